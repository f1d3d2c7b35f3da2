// Graphs as rows, DOT and JSON.

package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/master/session"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// Row is something that several ranks do.
type Row struct {
	Ranks rank.Set
	Text  string   // "MPI_Recv from 1..63 tag 3", "computes in relax (hang.c:20)"
	For   rank.Set // the ranks for which they wait
}

// Rows returns what the ranks of a graph do and wait for. Equal facts of several ranks are one row; rows are in the
// order of their lowest ranks.
func Rows(g *wait.Graph) []Row { return newSolver(g, 1).rows() }

func (s *solver) rows() (rows []Row) {
	g := s.g
	var counted []Row // of calls whose callers are not known
	add := func(c *wait.Call, row Row) {
		if c.IsCounted() {
			counted = append(counted, row)
		} else {
			rows = append(rows, row)
		}
	}
	for i := range s.collectives {
		x := &s.collectives[i]
		for _, c := range x.calls {
			row := Row{Ranks: c.Ranks, Text: callText(&c) + " on " + commName(x.comm)}
			if x.mismatch == "" {
				row.For = x.absent
			}
			add(&c, row)
		}
	}
	for _, c := range g.Calls() {
		if c.Ranks = c.Ranks.Intersect(s.fixed); !c.Ranks.IsEmpty() {
			comm, _ := g.Comm(c.Comm)
			add(&c, Row{Ranks: c.Ranks, Text: callText(&c) + " on " + commName(comm)})
		}
	}
	for i := range g.Edges() {
		e := &g.Edges()[i]
		for _, run := range e.Pairs.Runs() {
			rows = append(rows, s.runRow(e, run))
		}
	}
	for i := range rows {
		if !strings.HasPrefix(rows[i].Text, "waits for ") {
			rows[i].Text += calledBy(g, rows[i].Ranks)
		}
	}
	rows = append(rows, counted...)
	for i, d := range g.Doings() {
		rest := d.Ranks.Minus(s.blocked.Minus(s.fixed))
		if !rest.IsEmpty() {
			first, _ := rest.Min()
			rows = append(rows, Row{Ranks: rest, Text: s.doesBy(first, &g.Doings()[i])})
		}
		if also := d.Ranks.Minus(rest).Intersect(s.counted).Minus(s.seen()); !also.IsEmpty() {
			rows = append(rows, Row{Ranks: also, Text: s.threadsText(&g.Doings()[i])})
		}
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return compareFirst(a.Ranks, b.Ranks) })
	return rows
}

// seen returns the ranks that were seen in a call.
func (s *solver) seen() (ranks rank.Set) {
	for _, c := range s.g.Calls() {
		if !c.IsCounted() {
			ranks = ranks.Union(c.Ranks)
		}
	}
	for i := range s.g.Edges() {
		ranks = ranks.Union(s.g.Edges()[i].Pairs.Ranks())
	}
	return ranks
}

// compareFirst compares the lowest ranks of two sets.
func compareFirst(a, b rank.Set) int {
	x, _ := a.Min()
	y, _ := b.Min()
	return cmp.Compare(x, y)
}

// Bounds of the functions that are named as callers of a call, and of the lines of each.
const (
	maxCallers = 3
	maxLines   = 6
)

// calledBy returns the functions that have made the call of ranks, with the lines of all ranks: ", called by main
// (x.c:57, x.c:60)". It is "" if the caller of a rank is not known.
func calledBy(g *wait.Graph, ranks rank.Set) string {
	type caller struct {
		name   string
		places []string
	}
	var callers []caller
	for _, d := range g.Doings() {
		if !d.Ranks.Intersects(ranks) {
			continue
		}
		names := d.Names()
		if len(names) == 0 || strings.HasPrefix(names[0], "??") {
			return ""
		}
		name, at := frameParts(names[0])
		i := slices.IndexFunc(callers, func(c caller) bool { return c.name == name })
		if i < 0 {
			i = len(callers)
			callers = append(callers, caller{name: name})
		}
		if c := &callers[i]; at != "" && !slices.Contains(c.places, at) {
			c.places = append(c.places, at)
		}
	}
	var parts []string
	for _, c := range callers[:min(len(callers), maxCallers)] {
		if len(c.places) > maxLines {
			c.places = append(c.places[:maxLines:maxLines], "others")
		}
		if len(c.places) > 0 {
			c.name += " (" + strings.Join(c.places, ", ") + ")"
		}
		parts = append(parts, c.name)
	}
	if len(callers) > maxCallers {
		parts = append(parts, "others")
	}
	if n := len(parts); n > 1 {
		parts = []string{strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]}
	}
	if len(parts) == 0 {
		return ""
	}
	return ", called by " + parts[0]
}

// placeOf returns where ranks wait outside of MPI, if it is the same for all.
func (s *solver) placeOf(ranks rank.Set) string {
	for _, d := range s.g.Doings() {
		if ranks.Minus(d.Ranks).IsEmpty() {
			names := d.Names()
			_, user := inKernel(names)
			return place(names[user:])
		}
	}
	return ""
}

// callText formats a collective call: "MPI_Bcast root 0, 8 bytes".
func callText(c *wait.Call) string {
	var parts []string
	if c.Root != wait.No {
		parts = append(parts, "root "+strconv.Itoa(c.Root))
	}
	if c.Op != "" {
		parts = append(parts, c.Op)
	}
	if c.Bytes != wait.No {
		parts = append(parts, strconv.Itoa(c.Bytes)+" bytes")
	}
	if len(parts) == 0 {
		return functionText(c)
	}
	return functionText(c) + " " + strings.Join(parts, ", ")
}

// runRow describes a run of an edge.
func (s *solver) runRow(e *wait.Edge, run wait.Run) Row {
	row := Row{Ranks: run.Ranks()}
	if run.Peer == wait.Unknown {
		row.Text = e.Function + ": not known what for"
		if c, ok := s.g.Comm(e.Comm); ok {
			row.Text = e.Function + " on " + commName(c) + ", perhaps for ranks of another job"
		}
		return row
	}
	peer := wait.PeerText(run.Peer)
	if last := run.Of(run.Last()); run.Peer >= 0 {
		if last != run.Peer {
			peer += ".." + strconv.Itoa(last)
		}
		row.For = rank.Range(rank.ID(run.Peer), rank.ID(min(last, int(rank.MaxID))))
	}
	if e.Object != "" {
		row.Text = "waits for " + peer + " (" + e.Object + ")" + s.placeOf(row.Ranks)
		return row
	}
	if e.Need == wait.Target {
		row.Text = e.Function + " of the window of " + peer
		return row
	}
	way := "from "
	if e.Send {
		way = "to "
	}
	row.Text = e.Function + " " + way + peer + " " + tagText(e.Tag)
	if c, ok := s.g.Comm(e.Comm); ok && c.Name != "MPI_COMM_WORLD" {
		row.Text += " on " + commName(c)
	}
	row.Text += s.instead(e, run)
	switch e.Need {
	case wait.One:
		row.Text += ", one of several"
	case wait.Perhaps:
		row.Text += ", perhaps complete"
	}
	return row
}

// DOT returns the rows of a graph as a graph in the language of Graphviz: an arrow leads to the
// ranks for which a row waits. Rows with ranks of a deadlock are red; those with ranks that wait for one another so
// far are dashed.
func DOT(g *wait.Graph, found []Finding) string {
	var b strings.Builder
	b.WriteString("digraph waits {\n\tnode [shape=box];\n")
	rows := Rows(g)
	for i, r := range rows {
		style := ""
		for _, f := range found {
			switch {
			case f.Kind != Cycle || !f.Ranks.Intersects(r.Ranks):
			case f.Certain:
				style = ", color=red"
			case style == "":
				style = ", style=dashed"
			}
		}
		fmt.Fprintf(&b, "\tn%d [label=%s%s];\n", i+1, dotText("["+Ranks(r.Ranks)+"] "+r.Text), style)
	}
	for i, r := range rows {
		for k, to := range rows {
			if common := r.For.Intersect(to.Ranks); !common.IsEmpty() {
				fmt.Fprintf(&b, "\tn%d -> n%d [label=%s];\n", i+1, k+1, dotText(Ranks(common)))
			}
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// dotText quotes a text. In DOT a backslash starts an escape.
func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", "").Replace(s) + `"`
}

// JSON returns what was found and the graph, as one object.
func JSON(g *wait.Graph, found []Finding) string {
	return string(canonical.JSON(struct {
		Verdict []session.Finding `json:"verdict"`
		Waits   *wait.Graph       `json:"waits"`
	}{sentences(found), g})) + "\n"
}
