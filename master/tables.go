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
		groups = append(groups, protocol.Group{Kind: protocol.KindResult, Ranks: g.Ranks, Body: canonical.JSON(g.Status)})
	}
	return groups
}

// named is the result of "focus", "group" and "groups".
type named struct {
	Name string `json:"name,omitempty"`
	Set  string `json:"set"` // in canonical form
}

func namedGroup(name string, set rank.Set) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: set, Body: canonical.JSON(named{name, set.String()})}
}

// maxGroups bounds the number of named groups.
const maxGroups = 4096

func (m *Master) checkName(name string) *protocol.Fault {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	bad := strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(letters, r) })
	if bad || len(name) > 64 {
		return usage("group", "use letters, digits and _", "%q cannot be the name of a group", protocol.Clip(name))
	}
	if _, taken := m.states.Lookup(name); taken {
		return usage("group", "take another name", "@%s already means the ranks in that state", name)
	}
	if _, known := m.groups[name]; !known && len(m.groups) >= maxGroups {
		return usage("group", "use a name again", "there are already %d groups", maxGroups)
	}
	return nil
}

func (m *Master) namedGroups() []protocol.Group {
	var groups []protocol.Group
	for _, name := range slices.Sorted(maps.Keys(m.groups)) {
		groups = append(groups, namedGroup(name, m.groups[name]))
	}
	return groups
}
