// Cycles and causes.

package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// cycles returns the findings of ranks that wait for one another.
func (s *solver) cycles() (found []Finding) {
	for _, members := range s.members {
		if !s.isCycle(members) {
			continue
		}
		var ranks rank.Set
		var ids []rank.ID
		in := func(v int32) bool { return s.component[v] == s.component[members[0]] }
		var messages []arc
		var clauses []clause
		for _, v := range members {
			if v >= int32(s.size) {
				x := &s.collectives[v-int32(s.size)]
				var absent []rank.ID
				for _, a := range s.next(v) {
					if in(a.to) {
						absent = append(absent, rank.ID(a.to))
					}
				}
				clauses = append(clauses, x.clause(rank.Of(absent...)))
				ranks = ranks.Union(x.in)
				continue
			}
			ids = append(ids, rank.ID(v))
			for _, a := range s.next(v) {
				if in(a.to) && a.edge >= 0 {
					messages = append(messages, a)
				}
			}
		}
		ranks = ranks.Union(rank.Of(ids...))
		clauses = append(clauses, s.messageClauses(messages)...)
		f := Finding{Kind: Cycle, Ranks: ranks, Certain: s.quiet(ranks), Text: sentence(clauses, ", ")}
		if f.Certain {
			f.Text = "deadlock: " + f.Text
		}
		f.Text += s.othersWaiting(members, ranks)
		found = append(found, f)
	}
	return found
}

// before returns the indices of the arcs that lead to a vertex.
func (s *solver) before(v int32) []int32 {
	if s.back == nil {
		s.back = indexOf(s.size+len(s.collectives), func(yield func(key, item int) bool) {
			for i, a := range s.arcs {
				if !yield(int(a.to), i) {
					return
				}
			}
		})
	}
	return s.back.of(int(v))
}

// othersWaiting returns the end of a sentence: the ranks that wait for some vertices, directly or indirectly, except
// the named ones.
func (s *solver) othersWaiting(vertices []int32, named rank.Set) string {
	rest := s.waiters(vertices).Minus(named)
	if rest.IsEmpty() {
		return ""
	}
	return "; behind them " + plural(rest, "waits", "wait")
}

// waiters returns the ranks that wait for some vertices, directly or indirectly.
func (s *solver) waiters(vertices []int32) rank.Set {
	seen := make([]bool, s.size+len(s.collectives))
	for _, v := range vertices {
		seen[v] = true
	}
	var ids []rank.ID
	for work := slices.Clone(vertices); len(work) > 0; {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, i := range s.before(v) {
			if from := s.arcs[i].from; !seen[from] {
				seen[from] = true
				work = append(work, from)
				if from < int32(s.size) {
					ids = append(ids, rank.ID(from))
				}
			}
		}
	}
	return rank.Of(ids...)
}

// cause is the ranks for which the same vertices wait, and that do not wait themselves.
type cause struct {
	vertices []int32
	does     map[string][]rank.ID // ranks by what they do
}

// causes returns the findings of ranks for which others wait, and that do not wait themselves.
func (s *solver) causes() (found []Finding) {
	var order []string
	all := map[string]*cause{}
	for v := range int32(s.size) {
		if len(s.before(v)) == 0 || len(s.next(v)) > 0 {
			continue
		}
		var key strings.Builder
		for _, i := range s.before(v) {
			a := s.arcs[i]
			if a.from >= int32(s.size) {
				fmt.Fprintf(&key, "%d ", a.from)
			} else {
				fmt.Fprintf(&key, "%d>%d ", a.from, v)
			}
		}
		c := all[key.String()]
		if c == nil {
			c = &cause{does: map[string][]rank.ID{}}
			all[key.String()] = c
			order = append(order, key.String())
		}
		c.vertices = append(c.vertices, v)
		does := s.does(rank.ID(v))
		if s.samples > 1 && s.g.Moved().Contains(rank.ID(v)) && !s.computing().Contains(rank.ID(v)) {
			does += ", with progress between the samples"
		}
		c.does[does] = append(c.does[does], rank.ID(v))
	}
	for _, key := range order {
		found = append(found, s.cause(all[key]))
	}
	return found
}

// maxLevels bounds the levels of waiting ranks that a sentence about a cause describes.
const maxLevels = 3

// level is the vertices that wait directly for vertices of the level below. The lowest level is a cause.
type level struct {
	messages    []arc
	collectives map[int32][]rank.ID // by vertex of a collective: the ranks of lower levels that are absent
}

// cause returns the finding of a cause.
func (s *solver) cause(c *cause) Finding {
	levels, named := s.levels(c.vertices)
	var parts []string
	for i := len(levels) - 1; i >= 0; i-- {
		var clauses []clause
		for _, g := range slices.Sorted(maps.Keys(levels[i].collectives)) {
			clauses = append(clauses, s.collectives[g-int32(s.size)].clause(rank.Of(levels[i].collectives[g]...)))
		}
		parts = append(parts, sentence(append(clauses, s.messageClauses(levels[i].messages)...), ", "))
	}
	var causes rank.Set
	var does []clause
	for text, ids := range c.does {
		ranks := rank.Of(ids...)
		causes = causes.Union(ranks)
		does = append(does, clause{ids[0], verbs(ranks, text)})
	}
	f := Finding{Kind: Cause, Ranks: named.Union(causes), Certain: s.settled(named.Minus(causes)) &&
		!causes.Intersects(s.unsure.Intersect(s.fixed))}
	if s.mayGoOn(causes, levels) {
		f.Certain = false
	}
	if named.Intersects(s.torch) {
		f.Certain = f.Certain && s.quiet(named.Minus(causes))
	}
	if causes.Intersects(s.g.Unheld().Union(s.unnamed)) || len(levels) > 0 &&
		slices.ContainsFunc(levels[0].messages, s.mayReturn) {
		f.Certain = false
	}
	s.told = s.told.Union(causes)
	parts = append(parts, sentence(does, ", "))
	if slices.ContainsFunc(levels, s.isPerhaps) { // then the cause is the most certain part
		slices.Reverse(parts)
	}
	f.Text = strings.Join(parts, "; ") + s.othersWaiting(c.vertices, f.Ranks)
	return f
}

// isPerhaps reports whether some rank of a level waits for a message that may be complete.
func (s *solver) isPerhaps(l level) bool {
	return slices.ContainsFunc(l.messages, func(a arc) bool { return s.g.Edges()[a.edge].Need == wait.Perhaps })
}

// mayGoOn reports whether the ranks for which others wait may let them go on: they compute, or have made progress, as
// in a job that is unbalanced. If others wait for all of them, all must.
func (s *solver) mayGoOn(causes rank.Set, levels []level) bool {
	rest := causes.Minus(s.g.Moved().Union(s.computing()))
	if len(levels) > 0 {
		for g := range levels[0].collectives {
			if s.collectives[g-int32(s.size)].loose {
				return !rest.Equal(causes)
			}
		}
	}
	return rest.IsEmpty()
}

// computing returns the ranks that do not wait, but compute.
func (s *solver) computing() (ranks rank.Set) {
	for i := range s.g.Doings() {
		if d := &s.g.Doings()[i]; computes(d) {
			ranks = ranks.Union(d.Ranks.Minus(s.blocked.Minus(s.fixed)))
		}
	}
	return ranks
}

// mayReturn reports whether an arc leads to the holder of a lock, or of the end of a pipe, that may have let go of it
// between the samples and have it again: one that computes, or sleeps for some time.
func (s *solver) mayReturn(a arc) bool {
	if a.edge < 0 || s.g.Edges()[a.edge].Object == "" {
		return false
	}
	if s.g.Moved().Contains(rank.ID(a.to)) {
		return true
	}
	i := s.doing[a.to]
	return i >= 0 && s.g.Doings()[i].First().Does == "sleeps"
}

// stopped returns the findings of ranks that a signal has stopped while others are in calls of which it is not known
// for whom they wait, except those that are told as causes.
func (s *solver) stopped() (found []Finding) {
	if s.blocked.Minus(s.fixed).IsEmpty() {
		return nil
	}
	for i := range s.g.Doings() {
		d := &s.g.Doings()[i]
		ranks := d.Ranks.Minus(s.told)
		if d.State != wait.Stopped || ranks.IsEmpty() {
			continue
		}
		s.told = s.told.Union(ranks)
		found = append(found, Finding{Kind: Cause, Ranks: ranks, Certain: s.samples > 1 &&
			!ranks.Intersects(s.g.Moved().Union(s.g.Unheld())),
			Text: verbs(ranks, s.threadsText(d))})
	}
	return found
}

// levels returns the levels above some vertices, and the ranks in them. A collective whose members wait for ranks of
// several levels is in the highest of them.
func (s *solver) levels(below []int32) (levels []level, named rank.Set) {
	seen := make([]bool, s.size+len(s.collectives))
	var ids []rank.ID
	for _, v := range below {
		seen[v] = true
	}
	for len(below) > 0 && len(levels) < maxLevels {
		l := level{collectives: map[int32][]rank.ID{}}
		var above []int32
		for _, v := range below {
			for _, i := range s.before(v) {
				a := s.arcs[i]
				if a.from >= int32(s.size) {
					l.collectives[a.from] = append(l.collectives[a.from], rank.ID(v))
					continue
				}
				l.messages = append(l.messages, a)
				ids = append(ids, rank.ID(a.from))
				if !seen[a.from] {
					seen[a.from] = true
					above = append(above, a.from)
				}
			}
		}
		for g := range l.collectives {
			for _, before := range levels {
				l.collectives[g] = append(l.collectives[g], before.collectives[g]...)
				delete(before.collectives, g)
			}
			if !seen[g] {
				seen[g] = true
				in := s.collectives[g-int32(s.size)].in
				named = named.Union(in)
				for r := range in.All() {
					if v := int32(r); !seen[v] {
						seen[v] = true
						above = append(above, v)
					}
				}
			}
		}
		if len(l.messages)+len(l.collectives) > 0 {
			levels = append(levels, l)
		}
		below = above
	}
	return slices.DeleteFunc(levels, func(l level) bool { return len(l.messages)+len(l.collectives) == 0 }),
		named.Union(rank.Of(ids...))
}
