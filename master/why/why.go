// Package why writes one page that tells why a job does not go on: the verdict, the stacks of all ranks and of the odd
// ones, ends and crashes, values, output, and what to try next.
package why

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"sdm/master/hangfile"
	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/talk"
	"sdm/master/text"
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// Subject is what a page is about.
type Subject struct {
	Talk *talk.Talk
	// Ranks are those that are asked, of All.
	Ranks, All rank.Set
	// File is the hang file whose session it is; nil: the ranks are there.
	File *hangfile.File
	// Samples and Every are how ranks that run are looked at; 0 and "": as by sdm waits.
	Samples int
	Every   string
	// Try returns what gives an answer of the console's language: "sdm open FILE -e 'stacks'"; "": nothing does.
	Try func(line string) string
	// Next are further things to try, which only the caller knows.
	Next []string
}

// MaxPage bounds a page, in bytes.
const MaxPage = 8 << 10

// The bounds of the parts of a page, in bytes. The stacks have what the others leave.
const (
	maxVerdict = 1800
	maxOdd     = 1200
	maxEnds    = 700
	maxValues  = 1400
	maxOutput  = 800
	maxNext    = 700
	maxLine    = 320
)

// page is a page in the making.
type page struct {
	Subject
	w       text.Writer
	groups  []protocol.Group
	rows    []verdict.Row
	found   []verdict.Finding
	odd     rank.Set
	partial bool
}

// Page asks the ranks and returns the page. If ctx ends first, the page has what is known by then, and says so. An
// error means that nothing is known.
func Page(ctx context.Context, s Subject) (string, error) {
	p := page{Subject: s, w: text.Writer{All: s.All, Terminal: true}}
	args := protocol.Args{Samples: cmp.Or(s.Samples, language.WaitSamples), Every: cmp.Or(s.Every, language.WaitEvery)}
	answer, err := s.Talk.Ask(ctx, session.Call{Command: "stacks", Ranks: s.Ranks.String(), Args: args})
	if err != nil {
		return "", err
	}
	p.groups, p.partial = answer.Groups, answer.Done == nil
	states := s.Talk.States()
	p.judge(states)
	var parts []string
	add := func(title, body string, most int, how string) {
		if body = strings.TrimRight(body, "\n"); body != "" {
			parts = append(parts, title+cut(body, most, how))
		}
	}
	add("", p.verdict(states), maxVerdict, p.Try("waits"))
	add("\nends and stops:\n", p.ends(states), maxEnds, p.Try("ranks"))
	add("\nvalues at the odd ranks:\n", p.values(ctx, states), maxValues, p.Try("["+text.Ranks(p.odd)+"] info locals"))
	add("\nlast output (words of the program, not of sdm):\n", p.output(), maxOutput, p.howOutput())
	add("\ntry next:\n", p.next(), maxNext, "")
	used := 0
	for _, x := range parts {
		used += len(x) + 1
	}
	parts = slices.Insert(parts, min(1, len(parts)), p.stacks(MaxPage-used))
	return strings.Join(slices.DeleteFunc(parts, func(x string) bool { return x == "" }), "\n") + "\n", nil
}

// cut shortens a text to a number of bytes, by whole lines; how tells what shows the rest.
func cut(body string, most int, how string) string {
	lines := strings.Split(body, "\n")
	var b strings.Builder
	for i, line := range lines {
		if len(line) > maxLine {
			line = strings.ToValidUTF8(line[:maxLine], "") + "…"
		}
		if b.Len()+len(line)+1 > most {
			more := "… " + text.Plural(len(lines)-i, "line") + " more"
			if how != "" {
				more += ": " + how
			}
			return b.String() + more
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

// judge finds out what is wrong, and which ranks are not as most are.
func (p *page) judge(states *session.States) {
	g, samples := text.Waits(text.Asked{Gone: states.Groups(states.Ended())}, p.groups)
	if !g.IsEmpty() {
		p.found, p.rows = verdict.Of(g, samples), verdict.Rows(g)
		var most rank.Set
		for _, r := range p.rows {
			if r.Ranks.Len() > most.Len() {
				most = r.Ranks
			}
		}
		if 2*most.Len() > p.Ranks.Len() || len(p.rows) > 1 {
			p.odd = g.Ranks().Minus(most).Intersect(p.Ranks)
		}
	}
	if len(p.found) > 0 && p.found[0].Ranks.Intersects(p.odd) { // not those that wait behind a deadlock
		p.odd = p.odd.Intersect(p.found[0].Ranks)
	}
	if p.odd.IsEmpty() {
		p.odd = p.oddStacks()
	}
}

// oddStacks returns the ranks that are not in the largest branch of the tree of stacks.
func (p *page) oddStacks() rank.Set {
	var all, most rank.Set
	for _, g := range p.groups {
		if g.Stack == nil {
			continue
		}
		all = all.Union(g.Ranks)
		nodes := text.Roots(g.Stack)
		for len(nodes) == 1 {
			nodes = nodes[0].Children()
		}
		for _, n := range nodes {
			if n.Ranks.Len() > most.Len() {
				most = n.Ranks
			}
		}
	}
	if 2*most.Len() <= all.Len() {
		return rank.Set{}
	}
	return all.Minus(most)
}

// verdict returns what sdm waits says.
func (p *page) verdict(states *session.States) string {
	asked := text.Asked{Command: "stacks", Ranks: p.Ranks, Export: language.Waits, Gone: states.Groups(states.Ended())}
	out, _ := p.w.Answers(asked, p.groups)
	if len(p.found) == 0 {
		out = "no verdict: no rank was seen to wait for another one\n" + out
	}
	if p.partial {
		out = "not complete: the time was over before all ranks had answered\n" + out
	}
	return out
}

// tree returns the stacks of some ranks, without the verdict in front of them.
func (p *page) tree(ranks rank.Set) string {
	var groups []protocol.Group
	for _, g := range p.groups {
		if g, ok := g.Narrow(ranks); ok && g.Stack != nil {
			g.Waits = nil
			groups = append(groups, g)
		}
	}
	out, _ := p.w.Answers(text.Asked{Command: "stacks", Ranks: ranks}, groups)
	return strings.TrimRight(out, "\n")
}

// stacks returns the merged stacks; if they are too long, those of the odd ranks come first.
func (p *page) stacks(most int) string {
	all := p.tree(p.Ranks)
	const title, odd = "\nstacks:\n", "\nstacks of the odd ranks "
	switch {
	case all == "":
		return ""
	case len(all)+len(title) < most || p.odd.IsEmpty():
		return title + cut(all, most-len(title)-maxLine/2, p.Try("stacks"))
	}
	some := odd + text.Ranks(p.odd) + ":\n" + cut(p.tree(p.odd), max(maxOdd, most/2), p.Try("["+text.Ranks(p.odd)+"] stacks"))
	return some + "\n" + title + cut(all, max(most-len(some)-len(title)-maxLine, maxLine), p.Try("stacks"))
}

// ends returns the ranks that have ended, are lost, or stand at a signal.
func (p *page) ends(states *session.States) string {
	var groups []protocol.Group
	for _, x := range states.Groups(p.Ranks) {
		if x.Status.State.Ended() || x.Status.State == session.Stopped && x.Status.Reason != "attached" {
			groups = append(groups, x.Answer())
		}
	}
	slices.SortStableFunc(groups, func(a, b protocol.Group) int { return a.Ranks.Len() - b.Ranks.Len() })
	var b strings.Builder
	for _, g := range groups { // one by one: the crash of one rank before the ends of many
		out, _ := p.w.Answers(text.Asked{Command: "ranks", Ranks: p.Ranks}, []protocol.Group{g})
		b.WriteString(out)
	}
	if p.File != nil && p.File.Reason.Kind != hangfile.Asked {
		return text.Clean("the file was written because of: "+p.File.Reason.String()) + "\n" + b.String()
	}
	return b.String()
}

// Bounds of the ranks whose values are asked for, and of the frames in which they are.
const (
	maxAsked = 64
	maxSpots = 3
)

// spot is a frame that has source, and the odd ranks that are in it.
type spot struct {
	place string
	level int
	ranks rank.Set
}

// values returns the values that a hang file has, or the local variables of odd ranks that stand under gdb.
func (p *page) values(ctx context.Context, states *session.States) string {
	var b strings.Builder
	if p.File != nil {
		for _, v := range p.File.Values {
			out, _ := p.w.Answers(text.Asked{Command: v.Command, Ranks: p.Ranks}, hangfile.Groups(v.Answers))
			b.WriteString(text.Clean(v.Line) + ":\n" + out)
		}
		return b.String()
	}
	var spots []spot
	n := 0
	for r := range p.odd.Intersect(states.In(session.Stopped)).All() {
		if n++; n > maxAsked {
			break
		}
		level, place := p.own(r)
		i := slices.IndexFunc(spots, func(x spot) bool { return x.place == place })
		switch {
		case level < 0 || i < 0 && len(spots) == maxSpots:
			continue
		case i < 0:
			i, spots = len(spots), append(spots, spot{place: place, level: level})
		}
		spots[i].ranks = spots[i].ranks.Union(rank.Of(r))
	}
	for _, x := range spots {
		args := protocol.Args{Frame: &x.level}
		answer, err := p.Talk.Ask(ctx, session.Call{Command: "info locals", Ranks: x.ranks.String(), Args: args})
		if err == nil && !answer.Results().IsEmpty() {
			out, _ := p.w.Answers(text.Asked{Command: "info locals", Ranks: x.ranks}, answer.Groups)
			b.WriteString("in " + text.Clean(x.place) + ":\n" + out)
		}
	}
	return b.String()
}

// own returns the level of the innermost frame of a rank that has source, and its function; -1: there is none.
func (p *page) own(r rank.ID) (level int, place string) {
	level = -1
	for _, g := range p.groups {
		if g.Stack == nil || !g.Ranks.Contains(r) {
			continue
		}
		var path []stack.Frame
		for nodes := text.Roots(g.Stack); ; {
			i := slices.IndexFunc(nodes, func(n *stack.Node) bool { return n.Ranks.Contains(r) })
			if i < 0 {
				break
			}
			path, nodes = append(path, nodes[i].Frame), nodes[i].Children()
		}
		for i, f := range path {
			if f.Line > 0 {
				level, place = len(path)-1-i, fmt.Sprintf("%s, frame %d", f.Func, len(path)-1-i)
			}
		}
	}
	return level, place
}

// maxLines bounds the lines of output.
const maxLines = 8

// output returns the last lines of the output.
func (p *page) output() string {
	var events []session.Event
	if p.File != nil {
		events = p.File.Output.Events
	} else {
		events, _ = p.Talk.Since(0)
	}
	var lines []string
	for _, e := range events {
		if e.Group.Kind.IsOutput() && (e.From != "" || e.Group.Ranks.Intersects(p.Ranks)) {
			lines = append(lines, strings.Split(strings.TrimRight(p.w.Event(e), "\n"), "\n")...)
		}
	}
	return strings.Join(lines[max(0, len(lines)-maxLines):], "\n")
}

// howOutput tells what shows the whole output.
func (p *page) howOutput() string {
	if p.File != nil {
		return p.Try("info output")
	}
	return ""
}

// next returns what to try next.
func (p *page) next() string {
	var lines []string
	add := func(line, what string) {
		if how := p.Try(line); how != "" {
			lines = append(lines, how+"   "+what)
		}
	}
	if odd := text.Ranks(p.odd); odd != "" && p.File == nil {
		add("["+odd+"] stacks --all-threads", "all threads of the odd ranks")
	}
	if len(p.found) > 0 {
		add("waits --explain", "what the verdict is based on")
	} else {
		add("stacks --samples 10 --every 1s", "who has not moved")
	}
	return strings.Join(append(lines, p.Next...), "\n")
}

// Said returns what the ranks have said that could not do what an answer is of.
func Said(a talk.Answer) string {
	var bad []protocol.Group
	for _, g := range a.Groups {
		if g.Kind != protocol.KindResult {
			bad = append(bad, g)
		}
	}
	w := text.Writer{Terminal: true}
	out, _ := w.Answers(text.Asked{Command: a.Command}, bad)
	return out
}
