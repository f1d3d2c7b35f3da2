// Package compare tells what has changed between two hang files: of one job at two times, or of two runs. It is pure.
package compare

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/master/hangfile"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// Changes is what has changed.
type Changes struct {
	// Equal: nothing has changed. The times, the number of the job, its host and its directory are not compared.
	Equal bool    `json:"equal"`
	Then  Subject `json:"then"`
	Now   Subject `json:"now"`
	// Moved are the ranks whose stacks or calls differ. What is below a function of MPI is not compared: it differs at any
	// two instants.
	Moved rank.Set `json:"moved"`
	// Same are the ranks whose stacks and calls are the same in both files.
	Same rank.Set `json:"same"`
	// Sections are about what differs, each about one kind of things.
	Sections []Section `json:"sections,omitempty"`
}

// Subject names one of the files.
type Subject struct {
	When   time.Time `json:"when"`
	Reason string    `json:"reason"`
	Job    string    `json:"job,omitempty"`
	Ranks  rank.Set  `json:"ranks"`
}

// Section is what some ranks had or did then and have or do now; ranks that have the same in both files are left out.
type Section struct {
	Name string `json:"name"` // "verdict", "calls", "stacks", "states", "print x", "hosts", "output", ...
	Then []Part `json:"then,omitempty"`
	Now  []Part `json:"now,omitempty"`
}

// Part is the text of some ranks; of none if it is about the job.
type Part struct {
	Ranks rank.Set `json:"ranks,omitzero"`
	Text  string   `json:"text"`
}

// maxParts bounds each side of a section; a last part counts the others.
const maxParts = 40

// Of compares two files.
func Of(then, now *hangfile.File) *Changes {
	c := &Changes{Then: subjectOf(then), Now: subjectOf(now)}
	c.lines("reason", []string{then.Reason.String()}, []string{now.Reason.String()})
	if then.Reason.Kind != hangfile.Asked && now.Reason.Kind != hangfile.Asked { // else it is sdm's
		c.lines("command", []string{then.Job.Line()}, []string{now.Job.Line()})
	}
	c.lines("verdict", verdictOf(then), verdictOf(now))
	c.add("ranks", only(then.Ranks, now.Ranks), only(now.Ranks, then.Ranks))
	calls := c.calls(then, now)
	stacks := c.stacks(then, now)
	all := then.Ranks.Union(now.Ranks)
	c.Moved = calls.Union(stacks).Intersect(all)
	known := stacked(then).Intersect(stacked(now))
	c.Same = all.Intersect(known).Minus(c.Moved)
	c.compare("without stacks", absent(then), absent(now))
	c.compare("states", states(then), states(now))
	c.values(then, now)
	c.compare("hosts", hosts(then), hosts(now))
	c.compare("versions", versions(then), versions(now))
	c.lines("output", outputOf(then), outputOf(now))
	c.Equal = len(c.Sections) == 0 && c.Moved.IsEmpty()
	return c
}

func subjectOf(f *hangfile.File) Subject {
	return Subject{When: f.When, Reason: f.Reason.String(), Job: f.Job.ID, Ranks: f.Ranks}
}

func verdictOf(f *hangfile.File) (lines []string) {
	for _, x := range f.Verdict {
		lines = append(lines, x.String())
	}
	return lines
}

// outputOf returns the lines at the end of the output.
func outputOf(f *hangfile.File) (lines []string) {
	for _, e := range f.Output.Events {
		lines = append(lines, "["+text.Ranks(e.Group.Ranks)+"] "+strings.TrimSuffix(strings.ToValidUTF8(string(e.Group.Body),
			"\uFFFD"), "\n"))
	}
	return lines
}

// lines adds a section about the job if two lists differ; what they begin and end with is left out if that is the same.
func (c *Changes) lines(name string, then, now []string) {
	for len(then) > 0 && len(now) > 0 && then[0] == now[0] {
		then, now = then[1:], now[1:]
	}
	for len(then) > 0 && len(now) > 0 && then[len(then)-1] == now[len(now)-1] {
		then, now = then[:len(then)-1], now[:len(now)-1]
	}
	parts := func(lines []string) (all []Part) {
		for _, l := range lines {
			if l != "" {
				all = append(all, Part{Text: l})
			}
		}
		return all
	}
	c.add(name, parts(then), parts(now))
}

// add adds a section, unless nothing is in it.
func (c *Changes) add(name string, then, now []Part) {
	if len(then)+len(now) > 0 {
		c.Sections = append(c.Sections, Section{name, bounded(then), bounded(now)})
	}
}

func bounded(parts []Part) []Part {
	if len(parts) <= maxParts {
		return parts
	}
	rest := Part{Text: "and " + strconv.Itoa(len(parts)-maxParts) + " more"}
	return append(slices.Clone(parts[:maxParts]), rest)
}

// only returns the ranks of one set that are not in the other.
func only(in, out rank.Set) []Part {
	if rest := in.Minus(out); !rest.IsEmpty() {
		return []Part{{rest, "in the job"}}
	}
	return nil
}

// compare adds a section about the ranks whose texts differ. A rank may have several texts.
func (c *Changes) compare(name string, then, now []Part) {
	sum := func(parts []Part) map[string]rank.Set {
		by := map[string]rank.Set{}
		for _, p := range parts {
			by[p.Text] = by[p.Text].Union(p.Ranks)
		}
		return by
	}
	a, b := sum(then), sum(now)
	without := func(parts []Part, other map[string]rank.Set) (rest []Part) {
		for _, p := range parts {
			left := p.Ranks.Minus(other[p.Text])
			_, known := other[p.Text]
			if !left.IsEmpty() || p.Ranks.IsEmpty() && !known {
				rest = append(rest, Part{left, p.Text})
			}
		}
		return rest
	}
	c.add(name, without(then, b), without(now, a))
}

// calls adds what ranks do and wait for that differs, and returns these ranks.
func (c *Changes) calls(then, now *hangfile.File) rank.Set {
	a, _ := then.Graph()
	b, _ := now.Graph()
	if a.IsEmpty() || b.IsEmpty() {
		return rank.Set{} // nothing to compare with
	}
	changed := wait.Changed(a, b)
	rows := func(g *wait.Graph) (parts []Part) {
		for _, r := range hangfile.Alike(hangfile.RowsOf(g.Only(changed)), maxParts/2) {
			parts = append(parts, Part{r.Ranks, r.String()})
		}
		return parts
	}
	if !changed.IsEmpty() {
		c.add("calls", rows(a), rows(b))
	}
	return changed
}

// stacked returns the ranks with stacks.
func stacked(f *hangfile.File) (in rank.Set) {
	for _, e := range f.Stacks {
		if e.Group.Stack != nil {
			in = in.Union(e.Group.Ranks)
		}
	}
	return in
}

// treeOf returns the stacks of a file.
func treeOf(f *hangfile.File) (tree *stack.Tree) {
	for _, e := range f.Stacks {
		tree = tree.Merge(e.Group.Stack)
	}
	return tree
}

// absent returns why ranks have no stacks.
func absent(f *hangfile.File) (parts []Part) {
	for _, e := range f.Stacks {
		if k := e.Group.Kind; k == protocol.KindMissing || k == protocol.KindLost || k == protocol.KindFault {
			parts = append(parts, Part{e.Group.Ranks, text.Said("stacks", e.Group)})
		}
	}
	return parts
}
