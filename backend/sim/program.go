// The program that simulated ranks run: its text, and the way through it.

package sim

import (
	"slices"
	"strconv"
	"strings"
)

// sourceFile is the name of the program's only file; functions phase_K stand in
// a file of their own that nobody has.
const (
	sourceFile = "work.c"
	phaseFile  = "phase.c"
)

// Source is what `list` shows. It is straight on: every rank goes the same way,
// once through each line.
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

// sourceLines gives the text by line, from index 1.
func sourceLines() []string { return append([]string{""}, strings.Split(Source, "\n")...) }

// Lines of the source that the code needs to know.
const (
	lineOfHelper   = 7
	lineOfCall     = 14 // of helper, in compute
	lineOfMainCall = 21 // of compute, in main
	lineOfOutput   = 22
)

// function is one function of the program.
type function uint8

const (
	fnStart function = iota // before main, in no file
	fnMain
	fnCompute
	fnPhase // only where there are variants
	fnHelper
)

// point is a place where a rank can stop.
type point struct {
	fn   function
	line int // of sourceFile; 0 in fnPhase, whose line depends on the variant
	// back tells that a call on this line has just returned.
	back bool
}

// program is all points in the order in which they are reached.
type program struct {
	points []point
	// stacks are the functions on the stack at each point, innermost first. A
	// level of a stack is an index of it.
	stacks [][]function
}

// newProgram gives the program with functions phase_K, or without.
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

// end is the position behind the last point: the rank has ended.
func (p *program) end() int { return len(p.points) }

// depth is how many frames are on the stack at a position; 0 at the end.
func (p *program) depth(pos int) int {
	if pos == p.end() {
		return 0
	}
	return len(p.stacks[pos])
}

// find gives the point of a location and the variant that it is of, -1 for all:
// FUNCTION, FILE:LINE or LINE. A line without code stands for the next with
// code. ok is false for what the program does not have.
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

// at gives the first point of a line, -1 when there is none.
func (p *program) at(line int) int {
	return slices.IndexFunc(p.points, func(q point) bool { return q.line == line && line != 0 && !q.back })
}

// of gives the first point of a function, -1 when there is none.
func (p *program) of(fn function) int {
	return slices.IndexFunc(p.points, func(q point) bool { return q.fn == fn })
}

// lineAt gives the line of a level of the stack at a point, for a variant.
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

// name gives a function's name for a variant.
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

// file gives the file of a function, "" for none.
func (fn function) file() string {
	switch fn {
	case fnStart:
		return ""
	case fnPhase:
		return phaseFile
	}
	return sourceFile
}

// args are the names of a function's arguments.
func (fn function) args() []string {
	switch fn {
	case fnHelper:
		return []string{"x"}
	case fnCompute, fnPhase:
		return []string{"n"}
	}
	return nil
}

// locals are the names of a function's variables, without arguments.
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
