// The program that simulated ranks run: its text and its points.

package sim

import (
	"slices"
	"strconv"
	"strings"
)

// sourceFile is the name of the program's only source file. The functions phase_K are in
// phaseFile, whose source is not available.
const (
	sourceFile = "work.c"
	phaseFile  = "phase.c"
)

// Source is the text that list shows. It has no branches: every rank goes once through each line.
const Source = `// work.c, as simulated ranks run it: main -> compute -> helper.
int rank, size;
const char *name = "worker";

int helper(int x)
{
    int twice = 2 * x;
    return twice;
}

int compute(int n)
{
    int sum = 0;
    sum = helper(n) + 1;
    return sum;
}

int main(void)
{
    rank = my_rank();
    int x = compute(rank);
    puts("hello");
    return 0;
}`

// sourceLines returns the text by line, from index 1.
func sourceLines() []string { return append([]string{""}, strings.Split(Source, "\n")...) }

// Lines of the source that the code refers to.
const (
	lineOfHelper   = 7
	lineOfCall     = 14 // the call of helper in compute
	lineOfMainCall = 21 // the call of compute in main
	lineOfOutput   = 22
)

// function is one function of the program.
type function uint8

const (
	fnStart function = iota // before main, in no file
	fnMain
	fnCompute
	fnPhase // only if there are variants
	fnHelper
)

// point is a place where a rank can stop.
type point struct {
	fn   function
	line int // line of sourceFile; 0 in fnPhase, whose line depends on the variant
	// back reports that a call on this line has just returned.
	back bool
}

// program is all points in the order in which they are reached.
type program struct {
	points []point
	// stacks are the functions on the stack at each point, innermost first; the index is the level
	// of a frame.
	stacks [][]function
}

// newProgram makes the program, with functions phase_K if there are variants.
func newProgram(variants int) *program {
	p := &program{points: []point{
		{fnStart, 0, false},
		{fnMain, 20, false}, {fnMain, 21, false},
		{fnCompute, 13, false}, {fnCompute, 14, false},
		{fnPhase, 0, false},
		{fnHelper, 7, false}, {fnHelper, 8, false}, {fnHelper, 9, false},
		{fnPhase, 0, true},
		{fnCompute, 14, true}, {fnCompute, 15, false}, {fnCompute, 16, false},
		{fnMain, 21, true}, {fnMain, 22, false}, {fnMain, 23, false}, {fnMain, 24, false},
	}}
	full := []function{fnHelper, fnPhase, fnCompute, fnMain}
	if variants <= 1 {
		p.points = slices.DeleteFunc(p.points, func(p point) bool { return p.fn == fnPhase })
		full = []function{fnHelper, fnCompute, fnMain}
	}
	p.stacks = append(p.stacks, []function{fnStart})
	for _, at := range p.points[1:] {
		p.stacks = append(p.stacks, full[slices.Index(full, at.fn):])
	}
	return p
}

// end is the position after the last point: the rank has ended.
func (p *program) end() int { return len(p.points) }

// depth returns the number of frames at a position; 0 at the end.
func (p *program) depth(pos int) int {
	if pos == p.end() {
		return 0
	}
	return len(p.stacks[pos])
}

// find returns the point of a location and the variant to which it applies, -1 for all. A location
// is FUNCTION, FILE:LINE or LINE. A line without code means the next line with code. ok is false
// if the program does not have the location.
func (p *program) find(location string, variants int) (pos, variant int, ok bool) {
	file, text, found := strings.Cut(location, ":")
	if !found {
		file, text = sourceFile, location
	}
	if line, err := strconv.Atoi(text); err == nil {
		return p.findLine(file, line, variants)
	}
	if file != sourceFile && file != phaseFile {
		return 0, 0, false
	}
	for _, fn := range []function{fnMain, fnCompute, fnHelper} {
		if text == fn.name(0) {
			return p.of(fn), -1, true
		}
	}
	k, err := strconv.Atoi(strings.TrimPrefix(text, "phase_"))
	ok = err == nil && text == fnPhase.name(k) && p.of(fnPhase) >= 0 && 0 <= k && k < variants
	return p.of(fnPhase), k, ok
}

func (p *program) findLine(file string, line, variants int) (pos, variant int, ok bool) {
	if file == phaseFile {
		return p.of(fnPhase), line - 1, p.of(fnPhase) >= 0 && 1 <= line && line <= variants
	}
	for ; file == sourceFile && 0 < line && line < len(sourceLines()); line++ {
		if pos := p.at(line); pos >= 0 {
			return pos, -1, true
		}
	}
	return 0, 0, false
}

// at returns the first point of a line, -1 if there is none.
func (p *program) at(line int) int {
	return slices.IndexFunc(p.points, func(q point) bool { return q.line == line && line != 0 && !q.back })
}

// of returns the first point of a function, -1 if there is none.
func (p *program) of(fn function) int {
	return slices.IndexFunc(p.points, func(q point) bool { return q.fn == fn })
}

// lineAt returns the line of a frame at a point, for a variant.
func (p *program) lineAt(pos, level, variant int) int {
	fn := p.stacks[pos][level]
	switch {
	case fn == fnPhase:
		return variant + 1
	case level == 0:
		return p.points[pos].line
	case fn == fnCompute:
		return lineOfCall
	}
	return lineOfMainCall
}

// name returns a function's name for a variant.
func (fn function) name(variant int) string {
	switch fn {
	case fnStart:
		return "_start"
	case fnMain:
		return "main"
	case fnCompute:
		return "compute"
	case fnHelper:
		return "helper"
	}
	return "phase_" + strconv.Itoa(variant)
}

// file returns the file of a function, "" if it has none.
func (fn function) file() string {
	switch fn {
	case fnStart:
		return ""
	case fnPhase:
		return phaseFile
	}
	return sourceFile
}

// args returns the names of a function's arguments.
func (fn function) args() []string {
	switch fn {
	case fnHelper:
		return []string{"x"}
	case fnCompute, fnPhase:
		return []string{"n"}
	}
	return nil
}

// locals returns the names of a function's variables, without arguments.
func (fn function) locals() []string {
	switch fn {
	case fnHelper:
		return []string{"twice"}
	case fnCompute:
		return []string{"sum"}
	case fnMain:
		return []string{"x"}
	}
	return nil
}
