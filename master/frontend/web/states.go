// The states of all ranks, as runs.

package web

import (
	"encoding/binary"
	"slices"

	"sdm/master/session"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// statesJSON is the answer to "states".
type statesJSON struct {
	Version uint64      `json:"version"` // grows with each change
	N       int         `json:"n"`       // ranks
	Groups  []groupJSON `json:"groups"`
	// Runs are pairs of unsigned numbers (encoding/binary, Uvarint): how many consecutive numbers from 0 on, and the
	// place of their group in Groups plus 1; 0: there are no such ranks.
	Runs []byte `json:"runs"`
}

// groupJSON is a state, and how many ranks are in it.
type groupJSON struct {
	session.Status
	N     int    `json:"n"`
	Ranks string `json:"ranks,omitempty"` // "": they are more than maxSet bytes; the runs tell
}

// Bounds of what is said of the states. Beyond maxGroups ranks are grouped by their state alone.
const (
	maxGroups = 4096
	maxSet    = 1024 // bytes
)

// encodeStates returns the states as JSON.
func encodeStates(version uint64, states *session.States) []byte {
	all := states.All()
	return encodeGroups(version, all, states.Groups(all), maxGroups)
}

// encodeGroups returns the states of ranks, of which all are in one group at most, as JSON. If there are more than most
// groups, ranks are grouped by their state alone.
func encodeGroups(version uint64, all rank.Set, groups []session.StatusGroup, most int) []byte {
	if len(groups) > most {
		groups = coarse(groups)
	}
	out := statesJSON{Version: version, N: all.Len(), Groups: []groupJSON{}}
	top, some := all.Max()
	if !some {
		return canonical.JSON(out)
	}
	of := make([]uint16, int(top)+1)
	for i, g := range groups {
		x := groupJSON{Status: g.Status, N: g.Ranks.Len()}
		if set := g.Ranks.String(); len(set) <= maxSet {
			x.Ranks = set
		}
		out.Groups = append(out.Groups, x)
		for first, last := range g.Ranks.Intersect(all).Ranges() {
			part := of[first : int(last)+1]
			for j := range part {
				part[j] = uint16(i + 1)
			}
		}
	}
	for begin := 0; begin < len(of); {
		end := begin + 1
		for end < len(of) && of[end] == of[begin] {
			end++
		}
		out.Runs = binary.AppendUvarint(out.Runs, uint64(end-begin))
		out.Runs = binary.AppendUvarint(out.Runs, uint64(of[begin]))
		begin = end
	}
	return canonical.JSON(out)
}

// coarse returns the ranks in each state, without details.
func coarse(groups []session.StatusGroup) (few []session.StatusGroup) {
	for _, g := range groups {
		i := slices.IndexFunc(few, func(x session.StatusGroup) bool { return x.Status.State == g.Status.State })
		if i < 0 {
			i, few = len(few), append(few, session.StatusGroup{Status: session.Status{State: g.Status.State}})
		}
		few[i].Ranks = few[i].Ranks.Union(g.Ranks)
	}
	return few
}
