// Graphs of single ranks.

package wait

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sdm/protocol/rank"
)

// Rank is the input of Of: what one rank, or several ranks with equal facts, wait for. The Ranks of Calls and
// Doing, and the Pairs of Waits, are ignored.
type Rank struct {
	Doing Doing
	Calls []Call
	Waits []Message
	Comms []Comm
	// Unexpected are messages that have come in place of those in Waits; see Graph.Unexpected.
	Unexpected []Message
	// Number is the rank in MPI_COMM_WORLD, if Numbered is true; see Graph.Numbers.
	Number   int
	Numbered bool
	Moved    bool // see Graph.Moved
	Doubt    bool // see Graph.Doubt
	Unheld   bool // see Graph.Unheld
}

// Message is an edge with its peer: a rank, or Any, or Unknown.
type Message struct {
	Edge
	Peer int
}

// Shifted returns the graph of ranks that each wait for the rank that is distance above it, with the
// same edge. It equals the merged graphs of Of, at the cost of one.
func Shifted(first, last rank.ID, distance int, e Edge, r Rank) *Graph {
	peer := int(first) + distance
	r.Waits = []Message{{e, peer}}
	g := Of(rank.Range(first, last), r)
	if n := int(last-first) + 1; n > 1 && !g.IsEmpty() {
		g.edges[0].Pairs = Pairs{[][]Run{{{first, n, peer, 1}}}}
	}
	return g
}

// Of returns the graph of ranks with equal facts. If there are more than MaxEdges messages, none is kept, and the
// ranks are in Cut. Bytes that are not UTF-8 are replaced, and long texts are cut.
func Of(ranks rank.Set, r Rank) *Graph {
	if ranks.IsEmpty() {
		return nil
	}
	g := &Graph{}
	d := r.Doing
	d.Frames, d.Does, d.Detail, d.Ranks = clip(d.Frames), clip(d.Does), clip(d.Detail), ranks
	d.Others = slices.Clone(d.Others[:min(len(d.Others), MaxThreads)])
	for i := range d.Others {
		t := &d.Others[i]
		t.Name, t.Frames, t.Does, t.Detail = clip(t.Name), clip(t.Frames), clip(t.Does), clip(t.Detail)
	}
	g.doings = []Doing{d}
	for _, c := range r.Comms {
		c.Key, c.Name = clip(c.Key), clip(c.Name)
		g.comms = append(g.comms, c)
	}
	for _, c := range r.Calls[:min(len(r.Calls), maxCalls)] {
		c.Function, c.Comm, c.Op, c.Ranks = clip(c.Function), clip(c.Comm), clip(c.Op), ranks
		g.calls = append(g.calls, c)
	}
	if r.Moved {
		g.moved = ranks
	}
	if r.Doubt {
		g.doubt = ranks
	}
	if r.Unheld {
		g.unheld = ranks
	}
	if len(r.Waits) > MaxEdges {
		g.cut = ranks
	} else {
		g.edges = edgesOf(ranks, r.Waits)
		g.unexpected = edgesOf(ranks, r.Unexpected[:min(len(r.Unexpected), MaxEdges)])
	}
	if r.Numbered {
		g.numbers = pairsOf(ranks, []int{r.Number})
	}
	g.comms = join(nil, sorted(g.comms, (*Comm).compare), (*Comm).compare, (*Comm).add)
	g.calls = join(nil, sorted(g.calls, (*Call).compare), (*Call).compare, (*Call).add)
	return g
}

// edgesOf collects the peers of equal edges.
func edgesOf(ranks rank.Set, all []Message) (edges []Edge) {
	type row struct {
		Edge
		peers []int
	}
	var rows []row
	for _, m := range all {
		e := m.Edge
		e.Function, e.Comm, e.Object = clip(e.Function), clip(e.Comm), clip(e.Object)
		i := slices.IndexFunc(rows, func(r row) bool { return r.compare(&e) == 0 })
		if i < 0 {
			i = len(rows)
			rows = append(rows, row{Edge: e})
		}
		rows[i].peers = append(rows[i].peers, m.Peer)
	}
	for _, r := range rows {
		slices.Sort(r.peers)
		r.Pairs = pairsOf(ranks, slices.Compact(r.peers))
		edges = append(edges, r.Edge)
	}
	return sorted(edges, (*Edge).compare)
}

// clip makes a text valid UTF-8 of at most maxText bytes.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
