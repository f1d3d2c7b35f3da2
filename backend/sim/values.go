// Values of the variables of a simulated rank.

package sim

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
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

// gdbSays makes a fault with gdb's message.
func gdbSays(format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf(format, args...)}
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func constant(word string) (value, *protocol.Fault) {
	if n, err := strconv.ParseInt(word, 0, 64); err == nil {
		return number(n), nil
	}
	if _, err := strconv.ParseFloat(word, 64); err == nil {
		return value{text: word, opaque: true}, nil
	}
	return value{}, gdbSays("Invalid number \"%s\".", word)
}

// arrayNamed returns the index of the rank's array of that name among the variables.
func (s scope) arrayNamed(name string) (index int, ok bool) {
	name = strings.TrimSpace(name)
	for i := len(s.globals) - 1; i >= 0; i-- {
		if v := &s.globals[i]; v.Name == name && v.Ranks.Contains(s.rank) {
			return i, v.Elements > 0
		}
	}
	return 0, false
}

// element evaluates one element of array number a.
func (s scope) element(a int, at int64) (value, *protocol.Fault) {
	v := &s.globals[a]
	if at < 0 || at >= int64(v.Elements) {
		return value{}, gdbSays("Cannot access memory at address 0x%x", uint64(0x555555558000+elementSize*at))
	}
	s.globals, s.known, s.index, s.indexed = s.globals[:a], nil, at, true
	return evaluate(v.Expr, s)
}

// text formats elements as gdb does.
func (s scope) text(a int, span protocol.Span) (string, *protocol.Fault) {
	var b strings.Builder
	b.WriteByte('{')
	for i := span.First; i <= span.Last; i++ {
		v, bad := s.element(a, int64(i))
		if bad != nil {
			return "", bad
		}
		if i > span.First {
			b.WriteString(", ")
		}
		b.WriteString(v.String())
	}
	if span.First == 0 && span.Last < s.globals[a].Elements-1 {
		b.WriteString("...")
	}
	b.WriteByte('}')
	return b.String(), nil
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) || s[i] == '.' || i == 0 && '0' <= s[i] && s[i] <= '9' {
			return false
		}
	}
	return s != ""
}
