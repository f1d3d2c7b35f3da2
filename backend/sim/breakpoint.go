// Breakpoints of simulated ranks. Each rank has its own list, so that hits,
// temporary ones and enabling need no thought for the others.

package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// definition is a breakpoint as it was asked for; ranks share it.
type definition struct {
	key     string                  // tells definitions apart
	info    protocol.BreakpointInfo // Enabled is the rank's own
	pos     int
	variant int // -1: of all
}

// own is a rank's part of a breakpoint.
type own struct {
	*definition
	hits int
	off  bool
	left int  // hits after which it is off; 0: never
	once bool // as gdb, a plain enable leaves left at 1 again
	gone bool // when it is hit
}

// define makes the definition that a break command asks for.
func (m *machine) define(a *protocol.Args) (*definition, *protocol.Fault) {
	if a.Location == "" {
		return nil, &protocol.Fault{Kind: protocol.FaultUsage, Message: "no location is given", Hint: "break FUNCTION or break FILE:LINE"}
	}
	d := &definition{info: protocol.BreakpointInfo{
		Number: a.Breakpoint, Type: "breakpoint", Temporary: a.Temporary, Location: a.Location, Condition: a.Condition,
	}}
	d.key = fmt.Sprintf("%d %t %q %q", a.Breakpoint, a.Temporary, a.Location, a.Condition)
	pos, variant, ok := m.program.find(a.Location, m.cfg.Variants)
	if !ok {
		d.info.Pending = true
		d.pos = -1
		if !a.Pending {
			return nil, nowhere(a.Location)
		}
		return d, nil
	}
	d.pos, d.variant = pos, variant
	fn := m.program.points[pos].fn
	d.info.Func, d.info.File, d.info.Line = fn.name(max(variant, 0)), fn.file(), m.program.lineAt(pos, 0, max(variant, 0))
	return d, nil
}

// nowhere is what gdb says of a location that the program does not have.
func nowhere(location string) *protocol.Fault {
	file, line, found := strings.Cut(location, ":")
	if !found {
		file, line = sourceFile, location
	}
	_, err := strconv.Atoi(line)
	var f *protocol.Fault
	switch {
	case file != sourceFile && file != phaseFile:
		f = gdbSays("No source file named %s.", file)
	case err == nil:
		f = gdbSays("No line %s in file \"%s\".", line, file)
	default:
		f = gdbSays("Function \"%s\" not defined.", location)
	}
	f.Later = true
	return f
}

// setBreak gives a rank a breakpoint; gdb too looks at the condition at once.
func (m *machine) setBreak(s *state, d *definition) (answer, *protocol.Fault) {
	if d.info.Condition != "" && d.pos >= 0 {
		there := m.scope(s, 0)
		there.pos = d.pos
		if _, bad := evaluate(d.info.Condition, there); bad != nil {
			return answer{}, bad
		}
	}
	s.breaks = append(s.breaks, own{definition: d})
	return m.listBreaks(s, s.breaks[len(s.breaks)-1:]), nil
}

func (m *machine) infoBreaks(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	list := slices.DeleteFunc(slices.Clone(s.breaks), func(b own) bool { return !a.Lists("info breakpoints", b.info) })
	return m.listBreaks(s, list), nil
}

// listBreaks is the answer that shows breakpoints of a rank.
func (m *machine) listBreaks(s *state, list []own) answer {
	infos := []protocol.BreakpointInfo{}
	var cells []cell
	var key strings.Builder
	for _, b := range list {
		i := b.info
		i.Enabled = !b.off
		if i.Temporary = i.Temporary || b.gone; i.Enabled {
			i.Left = b.left
		}
		infos = append(infos, i)
		cells = append(cells, cell{"hits." + strconv.Itoa(i.Number), strconv.Itoa(b.hits)})
		fmt.Fprintf(&key, "%s %t %t %d;", b.key, b.off, b.gone, i.Left)
	}
	body := m.body(bodyKey{what: "breakpoints", text: key.String()}, func() any {
		return struct {
			Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
		}{infos}
	})
	return answer{kind: protocol.KindResult, body: body, cells: sorted(cells)}
}

// change applies a change to the named breakpoints of a rank, all when none is
// named; keep tells whether one stays.
func (s *state) change(a *protocol.Args, keep func(*own) bool) (answer, *protocol.Fault) {
	numbers := slices.Clone(a.Breakpoints)
	for _, p := range a.Places { // each has one place
		if p.Number != 1 {
			return answer{}, gdbSays("Breakpoint %d has one place only.", p.Breakpoint)
		}
		numbers = append(numbers, p.Breakpoint)
	}
	for _, n := range numbers {
		if !slices.ContainsFunc(s.breaks, func(b own) bool { return b.info.Number == n }) {
			return answer{}, gdbSays("No breakpoint number %d.", n)
		}
	}
	kept := make([]own, 0, len(s.breaks))
	for _, b := range s.breaks {
		if len(numbers) > 0 && !slices.Contains(numbers, b.info.Number) || keep(&b) {
			kept = append(kept, b)
		}
	}
	s.breaks = kept
	return answer{kind: protocol.KindResult, body: []byte("{}")}, nil
}

// clear deletes the breakpoints where a location is, without one where the rank stands.
func (m *machine) clear(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	pos, variant := s.pos, -1
	if a.Location != "" {
		var ok bool
		if pos, variant, ok = m.program.find(a.Location, m.cfg.Variants); !ok {
			return answer{}, nowhere(a.Location)
		}
	}
	var numbers []int
	for _, b := range s.breaks {
		if b.pos == pos && (variant < 0 || b.variant < 0 || b.variant == variant) {
			numbers = append(numbers, b.info.Number)
		}
	}
	if numbers == nil {
		f := gdbSays("No breakpoint at %s.", cmp.Or(a.Location, "this line"))
		f.Hint = "info breakpoints lists them"
		return answer{}, f
	}
	if _, bad := s.change(&protocol.Args{Breakpoints: numbers}, func(*own) bool { return false }); bad != nil {
		return answer{}, bad
	}
	return answer{kind: protocol.KindResult, body: m.body(bodyKey{what: "clear", text: fmt.Sprint(numbers)}, func() any {
		return struct {
			Deleted []int `json:"deleted"`
		}{numbers}
	})}, nil
}

// enable is enable and disable.
func (b *own) enable(on bool, a *protocol.Args) {
	b.off = !on
	switch {
	case !on:
	case a.Then == "disable":
		b.once, b.gone, b.left = true, false, max(a.Count, 1)
	case a.Then == "delete":
		b.once, b.gone, b.left = false, true, 0
	case b.once:
		b.left = 1
	}
}

// hit looks for a breakpoint at the rank's position and counts it. When several
// stop it, the first is told, as gdb does.
func (m *machine) hit(s *state) (stop answer, hit bool) {
	var by *own
	for i := range s.breaks {
		b := &s.breaks[i]
		if b.off || b.pos != s.pos || b.variant >= 0 && b.variant != s.variant || !m.holds(s, b) {
			continue
		}
		b.hits++
		if b.left > 0 {
			b.left--
			b.off = b.left == 0
		}
		if by == nil {
			by = b
		}
	}
	if by == nil {
		return answer{}, false
	}
	temporary := by.info.Temporary || by.gone
	stop = m.stopped(s, protocol.Stop{Reason: "breakpoint-hit", Breakpoint: by.info.Number, Temporary: temporary})
	if n := by.info.Number; temporary {
		s.breaks = slices.DeleteFunc(s.breaks, func(b own) bool { return b.info.Number == n })
	}
	return stop, true
}

// holds tells whether the condition lets it stop; one that cannot be evaluated
// stops, as with gdb.
func (m *machine) holds(s *state, b *own) bool {
	if b.info.Condition == "" {
		return true
	}
	v, bad := evaluate(b.info.Condition, m.scope(s, 0))
	return bad != nil || v.opaque || v.number != 0
}
