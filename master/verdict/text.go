// Sentences of findings.

package verdict

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// maxRanges bounds the ranges of a set in a sentence.
const maxRanges = 12

// Ranks formats a set for a sentence. Sets of more than maxRanges ranges are cut.
func Ranks(s rank.Set) string {
	var parts []string
	for first, last := range s.Ranges() {
		if len(parts) == maxRanges {
			return strings.Join(parts, ",") + ",… (" + strconv.Itoa(s.Len()) + " in all)"
		}
		parts = append(parts, rank.Range(first, last).String())
	}
	return strings.Join(parts, ",")
}

// plural joins a set and a verb: one for a single rank, otherwise many.
func plural(s rank.Set, one, many string) string {
	if s.Len() == 1 {
		return Ranks(s) + " " + one
	}
	return Ranks(s) + " " + many
}

// commName names a communicator, or says how many members it has.
func commName(c wait.Comm) string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("a communicator of %s", Ranks(c.Members))
}

// tagText formats a tag: "tag 5", "any tag".
func tagText(tag int) string {
	switch tag {
	case wait.Any:
		return "any tag"
	case wait.Unknown:
		return "tag ?"
	}
	return "tag " + strconv.Itoa(tag)
}

// halfText describes an edge: "receive tag 99", "send tag 1 on solver".
func (s *solver) halfText(e *wait.Edge) string {
	if e.Object != "" {
		return e.Object
	}
	if e.Need == wait.Target {
		return "its window in " + e.Function
	}
	text := "receive "
	if e.Send {
		text = "send "
	}
	text += tagText(e.Tag)
	if c, ok := s.g.Comm(e.Comm); ok && c.Name != "MPI_COMM_WORLD" {
		text += " on " + commName(c)
	}
	return text
}

// clause is one part of a sentence.
type clause struct {
	first rank.ID // clauses are in its order
	text  string
}

// clause describes the ranks that wait in the calls of a communicator for some absent members.
func (x *collective) clause(absent rank.Set) clause {
	var parts []string
	for _, name := range x.names() {
		ranks := x.those(func(c *wait.Call) bool { return functionText(c) == name })
		parts = append(parts, plural(ranks, "waits", "wait")+" in "+name)
	}
	least, _ := x.in.Min()
	of := " for "
	if x.loose && absent.Len() > 1 {
		of = " for some of "
	}
	return clause{least, strings.Join(parts, " and ") + " on " + commName(x.comm) + of + Ranks(absent)}
}

// names returns the functions of the calls, without duplicates.
func (x *collective) names() (names []string) {
	for _, c := range x.calls {
		if name := functionText(&c); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// messageClauses describes arcs of messages. Consecutive ranks are one clause: "0-62 wait for 1..63 (receive tag 3)".
// So are several messages of the same ranks: "0 waits for 1 (send tag 3, receive tag 3)".
func (s *solver) messageClauses(arcs []arc) (out []clause) {
	arcs, out = s.anyClauses(arcs)
	slices.SortFunc(arcs, func(a, b arc) int {
		if a.edge != b.edge {
			return int(a.edge - b.edge)
		}
		return int(a.from - b.from)
	})
	for len(arcs) > 0 {
		n := 1
		step := int32(0)
		for n < len(arcs) && arcs[n].edge == arcs[0].edge && arcs[n].from == arcs[n-1].from+1 {
			d := arcs[n].to - arcs[n-1].to
			if n == 1 && (d == 0 || d == 1) {
				step = d
			}
			if d != step {
				break
			}
			n++
		}
		first, last := arcs[0], arcs[n-1]
		peers := strconv.Itoa(int(first.to))
		if first.to != last.to {
			peers += ".." + strconv.Itoa(int(last.to))
		}
		run := wait.Run{First: rank.ID(first.from), Count: n, Peer: int(first.to), Step: int(step)}
		e := &s.g.Edges()[first.edge]
		text, half := plural(run.Ranks(), "waits", "wait")+" for "+peers+" (", s.halfText(e)+s.instead(e, run)+")"
		same := slices.IndexFunc(out, func(c clause) bool { return strings.HasPrefix(c.text, text) })
		if same >= 0 {
			out[same].text = strings.TrimSuffix(out[same].text, ")") + ", " + half
		} else {
			out = append(out, clause{rank.ID(first.from), text + half})
		}
		arcs = arcs[n:]
	}
	return out
}

// anyClauses describes arcs of ranks that wait for any of several ranks: "0 waits for any of 1-4 (receive tag 5)".
// rest are the other arcs.
func (s *solver) anyClauses(arcs []arc) (rest []arc, out []clause) {
	of := map[int32][]rank.ID{}
	edges := map[int32]int32{}
	for _, a := range arcs {
		if !a.any {
			rest = append(rest, a)
			continue
		}
		of[a.from], edges[a.from] = append(of[a.from], rank.ID(a.to)), a.edge
	}
	for _, from := range slices.Sorted(maps.Keys(of)) {
		e := &s.g.Edges()[edges[from]]
		came := s.instead(e, wait.Run{First: rank.ID(from), Count: 1, Peer: wait.Any})
		all, many := s.any[rank.ID(from)]
		if !many {
			all = rank.Of(of[from]...)
		}
		one := "any of "
		if all.Len() == 1 {
			one = ""
		}
		text := fmt.Sprintf("%d waits for %s%s (%s)", from, one, Ranks(all), s.halfText(e)+came)
		out = append(out, clause{rank.ID(from), text})
	}
	return rest, out
}

// maxClauses bounds the clauses of a sentence.
const maxClauses = 6

// sentence joins clauses in the order of first.
func sentence(clauses []clause, between string) string {
	slices.SortStableFunc(clauses, func(a, b clause) int { return int(a.first - b.first) })
	var parts []string
	for i, c := range clauses {
		if i == maxClauses {
			parts = append(parts, fmt.Sprintf("and %d more", len(clauses)-i))
			break
		}
		parts = append(parts, c.text)
	}
	return strings.Join(parts, between)
}
