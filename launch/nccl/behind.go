// Which ranks are behind in which communicator.

package nccl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// Behind compares answers that were given one after the other, at least two. It returns what they tell of those
// communicators in which some ranks have begun a collective that others have not, if no rank has begun any between the
// answers: counts of a job that goes on differ, too. numbers are the ranks of the processes.
//
// All ranks of a communicator begin the same collectives in the same order. So the next one that those with the least
// counts have not begun is the one for which the others wait, however many further ones these have begun.
func Behind(replies []*Reply, numbers map[Process]rank.ID) (counts []wait.Count) {
	if len(replies) < 2 {
		return nil
	}
	same := map[string]int{} // the number of answers that are equal to the last, by communicator
	last := map[string]*Comm{}
	for i := range replies {
		for k := range replies[len(replies)-1-i].Comms {
			c := &replies[len(replies)-1-i].Comms[k]
			if i == 0 {
				last[c.Key] = c
			}
			if before := last[c.Key]; before != nil && before.Size == c.Size && slices.Equal(before.Ranks, c.Ranks) {
				same[c.Key]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(last)) {
		if same[key] == len(replies) {
			counts = append(counts, last[key].behind(numbers)...)
		}
	}
	return counts
}

// maxUnlike bounds the different counts of the ranks of a communicator. Ranks are seldom more than some collectives
// ahead of others.
const maxUnlike = 256

// members are the processes of a communicator with equal counts. What a process has begun in all of its ranks counts.
type members struct {
	counts  Counts
	missing bool
	ranks   rank.Set
}

// behind returns what the counts of a communicator tell, which do not change.
func (c *Comm) behind(numbers map[Process]rank.ID) []wait.Count {
	all, known := c.members(numbers)
	if !known || len(all) > maxUnlike {
		return nil
	}
	var least Counts
	var begun, behind, missing rank.Set
	first := true
	for _, m := range all {
		if m.missing {
			missing = missing.Union(m.ranks)
			continue
		}
		for k := range least {
			if first || m.counts[k] < least[k] {
				least[k] = m.counts[k]
			}
		}
		first = false
	}
	next := map[string]rank.Set{} // by the first collective beyond least, those that have begun it
	for _, m := range all {
		switch {
		case m.missing:
		case m.counts == least:
			behind = behind.Union(m.ranks)
		default:
			name := m.counts.beyond(least, c.order(all, least))
			next[name] = next[name].Union(m.ranks)
			begun = begun.Union(m.ranks)
		}
	}
	if begun.IsEmpty() && !missing.IsEmpty() && !behind.IsEmpty() && least != (Counts{}) {
		// All that answer have begun the same. They wait in the last one if they wait at all.
		return []wait.Count{{Comm: c.Key, Name: c.Name, Function: least.last(), In: behind, Behind: missing}}
	}
	var counts []wait.Count
	for name, ranks := range next {
		counts = append(counts, wait.Count{Comm: c.Key, Name: c.Name, Function: name, In: ranks, Behind: behind})
	}
	slices.SortFunc(counts, func(a, b wait.Count) int { return strings.Compare(a.Function, b.Function) })
	return counts
}

// members returns the processes of a communicator by their counts; known is false if one of them has no number, or if
// a rank is not ready.
func (c *Comm) members(numbers map[Process]rank.ID) (all []members, known bool) {
	of := map[rank.ID]*members{}
	for i := range c.Ranks {
		x := &c.Ranks[i]
		id, ok := numbers[x.Process]
		if !ok || !x.Ready && !x.Missing {
			return nil, false
		}
		m := of[id]
		if m == nil {
			of[id] = &members{counts: x.Counts, missing: x.Missing}
			continue
		}
		m.missing = m.missing || x.Missing
		for k := range m.counts {
			m.counts[k] = min(m.counts[k], x.Counts[k])
		}
	}
	type key struct {
		counts  Counts
		missing bool
	}
	ids := map[key][]rank.ID{}
	for id, m := range of {
		k := key{m.counts, m.missing}
		ids[k] = append(ids[k], id)
	}
	for k, some := range ids {
		all = append(all, members{k.counts, k.missing, rank.Of(some...)})
	}
	return all, len(c.Ranks) == c.Size
}

// order returns the kind of the first collective beyond least if the counts tell it: the counts of each two members
// are such that one of them has begun all that the other has, and a member has begun one kind only. It is -1 if the
// kind is not known, and -2 if members have begun different ones.
func (c *Comm) order(all []members, least Counts) int {
	kind := -1
	for i, m := range all {
		if m.missing {
			continue
		}
		for _, other := range all[:i] {
			if !other.missing && !m.counts.within(other.counts) && !other.counts.within(m.counts) {
				return -2
			}
		}
		if k := m.counts.only(least); k >= 0 {
			kind = k
		}
	}
	return kind
}

// within reports whether no count is above the one of the same kind.
func (n Counts) within(other Counts) bool {
	for k := range n {
		if n[k] > other[k] {
			return false
		}
	}
	return true
}

// only returns the kind of all collectives beyond least; -1: there are several kinds, or none.
func (n Counts) only(least Counts) int {
	kind := -1
	for k := range n {
		switch {
		case n[k] == least[k]:
		case kind >= 0:
			return -1
		default:
			kind = k
		}
	}
	return kind
}

// sum returns the number of all collectives.
func (n Counts) sum() (sum uint64) {
	for _, one := range n {
		sum += one
	}
	return sum
}

// beyond names the first collective beyond least. kind is the result of order.
func (n Counts) beyond(least Counts, kind int) string {
	switch {
	case kind >= 0:
		return fmt.Sprintf("%s number %d", kinds[kind], least[kind]+1)
	case kind == -1:
		return fmt.Sprintf("collective number %d", least.sum()+1)
	}
	var names []string
	for k := range n {
		if n[k] > least[k] {
			names = append(names, fmt.Sprintf("%s number %d", kinds[k], least[k]+1))
		}
	}
	return strings.Join(names, " and ")
}

// last names the last collective that was begun.
func (n Counts) last() string {
	if k := n.only(Counts{}); k >= 0 {
		return fmt.Sprintf("%s number %d", kinds[k], n[k])
	}
	return fmt.Sprintf("collective number %d", n.sum())
}
