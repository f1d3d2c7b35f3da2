// Answers from the master's own tables.

package master

import (
	"maps"
	"slices"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// statusGroups returns the answers to "ranks".
func (m *Master) statusGroups(ranks rank.Set) []protocol.Group {
	var groups []protocol.Group
	for _, g := range m.states.Groups(ranks) {
		groups = append(groups, g.Answer())
	}
	return groups
}

// named is the result of "focus", "group" and "groups".
type named struct {
	Name string `json:"name,omitempty"`
	Set  string `json:"set"` // in canonical form
}

func namedSet(name string, set rank.Set) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: set, Body: canonical.JSON(named{name, set.String()})}
}

// maxNamedSets bounds the number of named sets.
const maxNamedSets = 4096

func (m *Master) checkName(name string) *protocol.Fault {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	bad := strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(letters, r) })
	if bad || len(name) > 64 {
		return usage("group", "use letters, digits and _", "%q cannot be the name of a group", protocol.Clip(name))
	}
	if _, taken := m.states.Lookup(name); taken {
		return usage("group", "take another name", "@%s already means the ranks in that state", name)
	}
	if _, known := m.namedSets[name]; !known && len(m.namedSets) >= maxNamedSets {
		return usage("group", "use a name again", "there are already %d groups", maxNamedSets)
	}
	return nil
}

func (m *Master) namedSetGroups() []protocol.Group {
	var groups []protocol.Group
	for _, name := range slices.Sorted(maps.Keys(m.namedSets)) {
		groups = append(groups, namedSet(name, m.namedSets[name]))
	}
	return groups
}
