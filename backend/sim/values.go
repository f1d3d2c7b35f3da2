// Values of the variables of a simulated rank.

package sim

import (
	"strconv"

	"sdm/protocol/rank"
)

// value is the value of an expression: a number, or a text as gdb prints it.
type value struct {
	text    string
	number  int64
	opaque  bool     // it has a text and no number
	members []member // of a structure or a list; text is then the whole text
}

func number(n int64) value { return value{number: n} }

func (v value) String() string {
	if v.opaque {
		return v.text
	}
	return strconv.FormatInt(v.number, 10)
}

// scope is where names are looked up: one frame of one rank.
type scope struct {
	rank    rank.ID
	size    int
	program *program
	pos     int
	level   int
	globals []Variable    // the variables that are visible
	known   map[int]value // values of globals by index, within one command
	seed    uint64
	index   int64 // index of the element that is evaluated
	indexed bool  // index is valid
}

// fn returns the function of the scope.
func (s scope) fn() function { return s.program.stacks[s.pos][s.level] }

// lookup finds a name, variables of the configuration first.
func (s scope) lookup(name string) (value, bool) {
	n := int64(s.rank)
	fn := s.fn()
	if v, ok := s.global(name); ok {
		return v, true
	}
	switch {
	case fn == fnHelper && name == "x", (fn == fnCompute || fn == fnPhase) && name == "n":
		return number(n), true
	case fn == fnHelper && name == "twice":
		return number(2 * n * s.after(fnHelper, lineOfHelper)), true
	case fn == fnCompute && name == "sum":
		return number((2*n + 1) * s.after(fnCompute, lineOfCall)), true
	case fn == fnMain && name == "x":
		return number((2*n + 1) * s.after(fnMain, lineOfMainCall)), true
	case name == "i" && s.indexed:
		return number(s.index), true
	case name == "rank":
		return number(n), true
	case name == "noise":
		return number(noise(s.rank, s.seed)), true
	case name == "size":
		return number(int64(s.size)), true
	case name == "name":
		return value{text: `0x555555556004 "worker"`, opaque: true}, true
	}
	return value{}, false
}

// after returns 1 if the frame is past a line of a function, else 0.
func (s scope) after(fn function, line int) int64 {
	p := s.program.points[s.pos]
	if s.level == 0 && p.fn == fn && p.line > line {
		return 1
	}
	return 0
}
