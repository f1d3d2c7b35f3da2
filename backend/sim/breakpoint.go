// Breakpoints of simulated ranks. Each rank has its own list, so that hits, temporary breakpoints
// and enabling do not affect other ranks.

package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
)

// definition is a breakpoint as it was requested; ranks share it.
type definition struct {
	key     string                  // identifies the definition
	info    protocol.BreakpointInfo // Enabled depends on the rank
	pos     int
	variant int // -1: all
}

// rankBreak is the state of a breakpoint on one rank.
type rankBreak struct {
	*definition
	hits int
	off  bool
	left int  // number of hits until it is disabled; 0: no limit
	once bool // as in gdb, enable without a count sets left to 1 again
	gone bool // deleted when it is hit
}

// define makes the definition of a break command.
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

// nowhere returns gdb's error for a location that the program does not have.
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

// setBreak sets a breakpoint on a rank. Like gdb it evaluates the condition at once.
func (m *machine) setBreak(s *state, d *definition) (answer, *protocol.Fault) {
	if d.info.Condition != "" && d.pos >= 0 {
		there := m.scope(s, 0)
		there.pos = d.pos
		if _, bad := evaluate(d.info.Condition, there); bad != nil {
			return answer{}, bad
		}
	}
	s.breaks = append(s.breaks, rankBreak{definition: d})
	return m.listBreaks(s, s.breaks[len(s.breaks)-1:]), nil
}

func (m *machine) infoBreaks(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	list := slices.DeleteFunc(slices.Clone(s.breaks), func(b rankBreak) bool { return !a.Lists("info breakpoints", b.info) })
	return m.listBreaks(s, list), nil
}

// listBreaks returns the answer that lists breakpoints of a rank.
func (m *machine) listBreaks(s *state, list []rankBreak) answer {
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

// change applies keep to the named breakpoints of a rank, or to all if none is named, and removes
// those for which it returns false.
func (s *state) change(a *protocol.Args, keep func(*rankBreak) bool) (answer, *protocol.Fault) {
	numbers := slices.Clone(a.Breakpoints)
	for _, p := range a.Places { // a simulated breakpoint has one location
		if p.Number != 1 {
			return answer{}, gdbSays("Breakpoint %d has one place only.", p.Breakpoint)
		}
		numbers = append(numbers, p.Breakpoint)
	}
	for _, n := range numbers {
		if !slices.ContainsFunc(s.breaks, func(b rankBreak) bool { return b.info.Number == n }) {
			return answer{}, gdbSays("No breakpoint number %d.", n)
		}
	}
	kept := make([]rankBreak, 0, len(s.breaks))
	for _, b := range s.breaks {
		if len(numbers) > 0 && !slices.Contains(numbers, b.info.Number) || keep(&b) {
			kept = append(kept, b)
		}
	}
	s.breaks = kept
	return answer{kind: protocol.KindResult, body: []byte("{}")}, nil
}

// clear deletes the breakpoints at a location; without one, those at the rank's position.
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
	if _, bad := s.change(&protocol.Args{Breakpoints: numbers}, func(*rankBreak) bool { return false }); bad != nil {
		return answer{}, bad
	}
	return answer{kind: protocol.KindResult, body: m.body(bodyKey{what: "clear", text: fmt.Sprint(numbers)}, func() any {
		return struct {
			Deleted []int `json:"deleted"`
		}{numbers}
	})}, nil
}

// enable executes enable and disable.
func (b *rankBreak) enable(on bool, a *protocol.Args) {
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

// hit counts a hit of each breakpoint at the rank's position. If several stop the rank the first
// is reported, as in gdb.
func (m *machine) hit(s *state) (stop answer, hit bool) {
	var by *rankBreak
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
		s.breaks = slices.DeleteFunc(s.breaks, func(b rankBreak) bool { return b.info.Number == n })
	}
	return stop, true
}

// holds reports whether the condition permits a stop. If it cannot be evaluated the rank stops, as
// in gdb.
func (m *machine) holds(s *state, b *rankBreak) bool {
	if b.info.Condition == "" {
		return true
	}
	v, bad := evaluate(b.info.Condition, m.scope(s, 0))
	return bad != nil || v.opaque || v.number != 0
}
