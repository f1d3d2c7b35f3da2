// Results of commands.

package text

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// results are the writers of results by command; other commands write nothing if they succeed.
var results = map[string]func(w *Writer, a Asked, g protocol.Group) []answer{
	"break":              breakpointSet,
	"watch":              breakpointSet,
	"catch":              breakpointSet,
	"log":                breakpointSet,
	"rbreak":             breakpointsSet,
	"clear":              breakpointsCleared,
	"info breakpoints":   breakpointTable,
	"info watchpoints":   breakpointTable,
	"print":              printed,
	"members":            members,
	"stat":               statistics,
	"diff":               differences,
	"backtrace":          backtrace,
	"frame":              oneFrame,
	"up":                 oneFrame,
	"down":               oneFrame,
	"info locals":        variables,
	"info args":          variables,
	"info threads":       threads,
	"list":               sourceLines,
	"thread":             threadChosen,
	"dump memory":        dumped,
	"memory read":        memoryBytes,
	"stacks":             stackTree,
	"condition":          plain,
	"ignore":             plain,
	"call":               called,
	"ptype":              plain,
	"whatis":             plain,
	"display":            displayed,
	"assert":             displayed,
	"assert at":          breakpointSet,
	"info display":       displayed,
	"x":                  memoryRows,
	"info registers":     registers,
	"disassemble":        assembly,
	"info sharedlibrary": libraries,
	"sharedlibrary":      libraries,
	"handle":             signals,
	"info signals":       signals,
	"gdb":                plain,
	"mi":                 plain,
	"info hosts":         hostRow,
	"info file":          rows,
	"info output":        rows,
	"usage":              used,
	"ranks":              status,
	"group":              named,
	"groups":             named,
}

// result writes one group of results. Most commands have one answer, followed by its differing
// values if it is written in full. print has one answer for each value.
func (w *Writer) result(a Asked, g protocol.Group) (parts []answer, folded bool) {
	write, ok := results[a.Command]
	if a.Command == "thread apply" { // its threads have results of other commands
		write, ok = threadsApplied, true
	}
	if !ok {
		return nil, false
	}
	parts = write(w, a, g)
	cols := columns(g)
	switch a.Command {
	case "info hosts":
		return parts, false
	case "stat":
		return parts, !a.Full && differs(cols["value"])
	case "print", "call", "diff":
		return parts, !a.Full && len(parts) < cols["value"].distinct || a.Command == "print" && PageOf(g).isPart()
	}
	for _, c := range g.Columns {
		if x := cols[c.Name]; !differs(x) || ignored(c.Name) || isSpread(c.Name, x) {
			continue
		}
		folded = !a.Full
		if a.Full && len(parts) > 0 {
			last := &parts[len(parts)-1]
			last.lines = append(last.lines, everyValue(c.Name, cols[c.Name])...)
		}
	}
	return parts, folded || a.Command == "members" && MembersOf(g).More
}

// differs reports whether ranks have different values.
func differs(c view) bool {
	_, single := c.single()
	return !single && c.distinct > 0
}

// isSpread reports whether all values of a variable are in the answer.
func isSpread(name string, c view) bool {
	if !strings.HasPrefix(name, "value.") && !strings.HasPrefix(name, "display.") && !strings.Contains(name, ".locals.") {
		return false
	}
	_, folded := c.spread()
	return !folded
}

// ignored reports whether the single values of a column are of no interest.
func ignored(name string) bool { return strings.HasSuffix(name, "addr") || name == "current" }

// everyValue returns lines such as "  [0-2] #1 n = 5".
func everyValue(name string, c view) []string {
	name = columnTitle(name)
	var lines []string
	for _, v := range c.values {
		lines = append(lines, "  ["+clipped(v.Ranks)+"] "+name+" = "+v.Value)
	}
	if !c.Complete() {
		lines = append(lines, "  "+name+" = "+c.argument())
	}
	return lines
}

// columnTitle returns the name of a column as in an answer: "1.args.n" and "1.locals.n" are "#1 n",
// "value.n" is "n", "hits.2" is "hits of 2".
func columnTitle(name string) string {
	parts := strings.SplitN(name, ".", 3)
	switch {
	case len(parts) == 3 && (parts[1] == "args" || parts[1] == "locals"):
		return "#" + parts[0] + " " + parts[2]
	case parts[0] == "value" || parts[0] == "args":
		return strings.TrimPrefix(name, parts[0]+".")
	case len(parts) == 2 && (parts[0] == "hits" || parts[0] == "target"):
		return parts[0] + " of " + parts[1]
	}
	return name
}

// maxLines is the maximal number of distinct numbers that print writes on separate lines; more are
// summarised in one line.
const maxLines = 4

// printed writes the values of an expression: one line each if they are few, or not numbers, or to
// be written in full.
func printed(_ *Writer, a Asked, g protocol.Group) []answer {
	body := PageOf(g)
	name := body.Expr
	if a.Label != "" {
		name = a.Label
	}
	if body.First > 0 {
		name += body.place()
	}
	c, ok := columns(g)["value"]
	if !ok {
		return []answer{{ranks: g.Ranks, lines: []string{name + " = ?"}}}
	}
	c = c.written(a.Format + body.Format)
	if all := c.folds(); len(all) > 0 && !a.Full {
		return foldedAnswers(name, all, body, columns(g))
	}
	if !c.Complete() || c.distinct > maxLines && c.numeric() && !a.Full {
		return []answer{{ranks: g.Ranks, lines: []string{name + " = " + c.summary()}}}
	}
	var parts []answer
	for _, v := range c.values {
		lines := strings.Split(v.Value, "\n")
		lines[0] = name + " = " + lines[0]
		lines[len(lines)-1] += body.partNote(v.Ranks, columns(g))
		parts = append(parts, answer{ranks: v.Ranks, lines: lines})
	}
	return parts
}

// foldedAnswers writes the values of each shape, and which part of an array they are.
func foldedAnswers(name string, all []column.Fold, body Page, cols map[string]view) []answer {
	hint := "expand for all"
	if body.isPart() {
		hint = "print --all for all"
	}
	var parts []answer
	for _, f := range all {
		same := cols
		if n, _ := f.Distinct(); n > 1 { // the difference is visible
			same = map[string]view{"hash": {}}
		}
		for _, x := range foldedLines(f, hint) {
			x.lines[0] = name + " = " + x.lines[0]
			x.lines[len(x.lines)-1] += body.partNote(x.ranks, same)
			parts = append(parts, x)
		}
	}
	return parts
}

// partNote returns which part of an array or a structure is shown; "" if it is complete.
func (p Page) partNote(ranks rank.Set, cols map[string]view) string {
	if !p.isPart() {
		return ""
	}
	hash, hashed := cols["hash"]
	return " (" + p.part() + strconv.Itoa(p.Last+1-p.First) + " of " + strconv.Itoa(p.Elements) + " " + choose(p.Members, "members",
		"elements") +
		p.compared(ranks, hash, hashed) + "; expand for more)"
}

// compared tells, for ranks that share a value of which a part is shown, if the rest differs or was
// not compared; "" if it is equal, or if this is not the first page.
func (p Page) compared(ranks rank.Set, hash view, hashed bool) string {
	switch {
	case ranks.Len() < 2 || p.First > 0:
		return ""
	case !hashed:
		return ", only these compared"
	case sameHash(ranks, hash):
		return ""
	}
	array := p.Array()
	if _, rest, ok := strings.Cut(array, " -- "); ok && strings.HasPrefix(array, "-") { // options of print
		array = rest
	}
	return ", later ones differ: diff " + array + " shows where"
}

func sameHash(ranks rank.Set, hash view) bool {
	n, _ := hash.Only(ranks).Distinct()
	return n <= 1
}

// Page is the result of print, which may be a part of the elements of an array.
type Page struct {
	Expr     string `json:"expr"`
	Format   string `json:"format"`   // gdb's letters of the format
	Elements int    `json:"elements"` // of the whole array; 0 if all are shown
	First    int    `json:"first"`
	Last     int    `json:"last"`
	Part     string `json:"part"`    // expression of the array if it is a part of the value
	Members  bool   `json:"members"` // elements are members of a structure
	// Shape determines how elements are named; without dimensions as in C.
	Shape protocol.Shape `json:"shape"`
}

// place returns "[200..399]", or "[3][17]..[4][216]", or "(201..400)".
func (p Page) place() string {
	switch low := p.Shape.Dims; {
	case p.Members:
		return " (members " + strconv.Itoa(p.First+1) + " to " + strconv.Itoa(p.Last+1) + ")"
	case len(low) > 1:
		return p.Shape.Index(p.First) + ".." + p.Shape.Index(p.Last)
	case p.Shape.Fortran && len(low) == 1:
		return "(" + strconv.Itoa(low[0].Low+p.First) + ".." + strconv.Itoa(low[0].Low+p.Last) + ")"
	}
	return "[" + strconv.Itoa(p.First) + ".." + strconv.Itoa(p.Last) + "]"
}

// part names the array if it is not the whole value.
func (p Page) part() string {
	if p.Part == "" {
		return ""
	}
	return p.Part + ": "
}

// Array returns the expression of the array.
func (p Page) Array() string {
	if p.Part != "" {
		return p.Part
	}
	return p.Expr
}

func (p Page) isPart() bool { return p.Elements > p.Last+1 }

// PageOf reads the result of print, so that expand can continue after its end.
func PageOf(g protocol.Group) Page {
	var body Page
	decode(g.Body, &body)
	return body
}

// variables writes "n = 5" for each name, as GDB does.
func variables(_ *Writer, a Asked, g protocol.Group) []answer {
	all := nameLines(g, func(name, value string) string {
		if strings.HasSuffix(strings.TrimRight(value, "}) "), "...") && !strings.Contains(name, "#") {
			value += " (cut off; print " + name + " pages it)"
		}
		return name + " = " + value
	})
	if all[0].lines == nil {
		all[0].lines = []string{choose(a.Command == "info args", "No arguments.", "No locals.")}
	}
	return all
}

// nameLines writes one line for each of the group's names with its value, or ? if the ranks have
// none.
func nameLines(g protocol.Group, line func(name, value string) string) []answer {
	var body struct {
		Names []string `json:"names"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	cols := columns(g)
	x := answer{ranks: g.Ranks}
	for _, name := range body.Names {
		text := "?"
		if c, ok := cols["value."+name]; ok {
			text = spreadText(c)
		}
		x.lines = append(x.lines, line(name, text))
	}
	return []answer{x}
}

// plain writes a text of gdb, if it is not empty.
func plain(_ *Writer, a Asked, g protocol.Group) []answer {
	var body struct {
		Text string `json:"text"`
	}
	if !decode(g.Body, &body) {
		x := raw(g)
		x.words = true
		return []answer{x}
	}
	text := strings.TrimRight(body.Text, "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	if a.Label != "" {
		lines[0] = a.Label + " = " + lines[0]
	}
	return []answer{{ranks: g.Ranks, lines: lines, words: true}}
}

// rows writes lines with ranks in front of each.
func rows(_ *Writer, _ Asked, g protocol.Group) (all []answer) {
	var body struct {
		Text string `json:"text"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(body.Text, "\n"), "\n") {
		all = append(all, answer{ranks: g.Ranks, lines: []string{line}})
	}
	return all
}

// named writes a named rank set.
func named(_ *Writer, _ Asked, g protocol.Group) []answer {
	var body struct {
		Name string `json:"name"`
	}
	if !decode(g.Body, &body) {
		return []answer{raw(g)}
	}
	return []answer{{ranks: g.Ranks, lines: []string{"@" + body.Name}}}
}
