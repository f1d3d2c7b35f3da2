// Breakpoints as commands that set them again.

package text

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Saved returns GDB commands that set the breakpoints in results of info breakpoints again; "" if
// there are none. Commands that GDB cannot read are at the end: those for a part of the ranks,
// logs, and commands of breakpoints that the console executes.
func Saved(groups []protocol.Group) string {
	var all rank.Set
	points := map[int][]*saved{}
	for _, g := range groups {
		var body struct{ Breakpoints []protocol.BreakpointInfo }
		if g.Kind != protocol.KindResult || !decode(g.Body, &body) {
			continue
		}
		all = all.Union(g.Ranks)
		for _, b := range body.Breakpoints {
			points[b.Number] = addSaved(points[b.Number], g.Ranks, b)
		}
	}
	var both, own string
	for _, n := range inOrder(points) {
		for _, p := range points[n] {
			if lines, gdbs := p.lines(all); gdbs {
				both += lines
			} else {
				own += lines
			}
		}
	}
	if own != "" {
		own = "# sdm's own: gdb stops reading here\n" + own
	}
	return both + own
}

// saved is a breakpoint with its changes on the ranks.
type saved struct {
	line  string // command that sets it
	ranks rank.Set
	more  []savedLine // changes after that, in order
	own   bool        // gdb cannot read it, even for all ranks
}

// savedLine is one change of it, which may have several lines.
type savedLine struct {
	text  string
	ranks rank.Set
}

// inOrder returns the numbers of breakpoints in order; gdb's own (negative ones) are last.
func inOrder(points map[int][]*saved) []int {
	var numbers []int
	for n := range points {
		numbers = append(numbers, n)
	}
	slices.SortFunc(numbers, func(a, b int) int {
		if (a < 0) != (b < 0) || a < 0 {
			return b - a
		}
		return a - b
	})
	return numbers
}

// addSaved adds the information of some ranks about a breakpoint to what the others have given.
func addSaved(points []*saved, ranks rank.Set, b protocol.BreakpointInfo) []*saved {
	line := setAgain(b)
	i := slices.IndexFunc(points, func(p *saved) bool { return p.line == line })
	if i < 0 {
		points, i = append(points, &saved{line: line}), len(points)
	}
	p := points[i]
	p.ranks = p.ranks.Union(ranks)
	p.own = p.own || b.Type == "log" || b.Type == "assertion" || protocol.FrontEndLine(b.Commands) < len(b.Commands)
	for _, text := range changes(b) {
		p.change(text, ranks)
	}
	return points
}

func (p *saved) change(text string, ranks rank.Set) {
	for i := range p.more {
		if p.more[i].text == text {
			p.more[i].ranks = p.more[i].ranks.Union(ranks)
			return
		}
	}
	p.more = append(p.more, savedLine{text, ranks})
}

// lines returns the commands, and whether gdb can read them. If not, the first line is one that gdb
// refuses.
func (p *saved) lines(all rank.Set) (text string, gdbs bool) {
	front, gdbs := "", !p.own
	if !p.ranks.Equal(all) {
		front, gdbs = "["+Ranks(p.ranks)+"] ", false
	}
	for _, l := range p.more {
		before := front
		if !l.ranks.Equal(p.ranks) {
			before, gdbs = "["+Ranks(l.ranks)+"] ", false
		}
		text += choose(l.text == disabled, "", "  ") + before + l.text + "\n"
	}
	if !gdbs && front == "" && !strings.HasPrefix(p.line, "log ") && !strings.HasPrefix(p.line, protocol.AssertLine) {
		front = "[all] "
	}
	return front + p.line + "\n" + text, gdbs
}

// setWords are the commands that set breakpoints of a type, permanent and temporary ones; break for
// other types.
var setWords = map[string][2]string{
	"hw breakpoint":   {"hbreak", "thbreak"},
	"hw watchpoint":   {"watch", "watch"},
	"watchpoint":      {"watch", "watch"},
	"read watchpoint": {"rwatch", "rwatch"},
	"acc watchpoint":  {"awatch", "awatch"},
	"catchpoint":      {"catch", "tcatch"},
	"log":             {"log", "log"},
	"barrier":         {"tbreak", "tbreak"},
}

// setAgain returns the command that sets a breakpoint.
func setAgain(b protocol.BreakpointInfo) string {
	if b.Type == "assertion" {
		return protocol.AssertLine + strings.Join(b.Exprs, ", ") + " --at " + locationAgain(b) + choose(b.Stop, " --stop", "")
	}
	words, ok := setWords[b.Type]
	if !ok {
		words = [2]string{"break", "tbreak"}
	}
	line := choose(b.Temporary, words[1], words[0]) + " " + locationAgain(b)
	if len(b.Exprs) > 0 {
		line += ", " + strings.Join(b.Exprs, ", ")
	}
	return line
}

// locationAgain returns the location of a breakpoint. A location that was relative to a rank or is
// a line number becomes one with the file.
func locationAgain(b protocol.BreakpointInfo) string {
	relative := b.Location == "" || b.Location == "*$pc" || strings.Trim(b.Location, "+-0123456789") == ""
	if at := breakpointPlace(b); relative && at != "" {
		return at
	}
	return b.Location
}

// disabled is the change that GDB does not indent.
const disabled = "disable $bpnum"

// changes returns the commands that give a new breakpoint the attributes of this one.
func changes(b protocol.BreakpointInfo) []string {
	var all []string
	if b.Condition != "" {
		all = append(all, "condition $bpnum "+b.Condition)
	}
	if b.Ignore > 0 {
		all = append(all, "ignore $bpnum "+strconv.Itoa(b.Ignore))
	}
	if len(b.Commands) > 0 {
		all = append(all, "commands\n    "+strings.Join(b.Commands, "\n    ")+"\n  end")
	}
	for _, n := range b.Disabled {
		all = append(all, "disable $bpnum."+strconv.Itoa(n))
	}
	switch {
	case !b.Enabled:
		all = append(all, disabled)
	case b.Left > 1:
		all = append(all, "enable count "+strconv.Itoa(b.Left)+" $bpnum")
	case b.Left == 1:
		all = append(all, "enable once $bpnum")
	}
	return all
}
