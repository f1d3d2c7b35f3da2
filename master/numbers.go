// Numbers of breakpoints and displays.

package master

import (
	"cmp"
	"slices"

	"sdm/master/session"
	"sdm/protocol"
)

// resolveLast replaces breakpoint number 0 by the number of the last breakpoint.
func (m *Master) resolveLast(a protocol.Args) protocol.Args {
	if slices.Contains(a.Breakpoints, 0) {
		a.Breakpoints = slices.Clone(a.Breakpoints)
		for i, n := range a.Breakpoints {
			a.Breakpoints[i] = cmp.Or(n, m.lastBreak)
		}
	}
	a.Places = slices.Clone(a.Places)
	for i, p := range a.Places {
		a.Places[i].Breakpoint = cmp.Or(p.Breakpoint, m.lastBreak)
	}
	return a
}

// number assigns the number of a new breakpoint or display, the same on all ranks.
func (m *Master) number(info protocol.CommandInfo, id protocol.RequestID, a *protocol.Args) {
	switch {
	case info.MakesPoint():
		m.lastBreak++
		a.Breakpoint, m.breakpoint[id] = m.lastBreak, m.lastBreak
	case makesDisplay(info, *a):
		m.lastDisplay++
		a.Display = m.lastDisplay
	}
}

// reclaimNumber makes the number of a breakpoint free again if no rank could set it and no later
// number has been given: a typing error costs no number.
func (m *Master) reclaimNumber(e session.Event) {
	n, ok := m.breakpoint[e.ID]
	if !ok {
		return
	}
	delete(m.breakpoint, e.ID)
	if e.Done.Faults == e.Done.Asked && n == m.lastBreak {
		m.lastBreak--
	}
}

// checkBreakpoints refuses numbers of breakpoints that do not exist.
func (m *Master) checkBreakpoints(command string, a protocol.Args) *protocol.Fault {
	for _, one := range a.PerBreakpoint() {
		n := 0
		switch {
		case len(one.Breakpoints) > 0:
			n = one.Breakpoints[0]
		case len(one.Places) > 0:
			n = one.Places[0].Breakpoint
		default:
			return nil
		}
		if n == 0 {
			return usage(command, "info breakpoints lists them", "no breakpoint has been set yet")
		}
		if n < 1 || n > m.lastBreak {
			return usage(command, "info breakpoints lists them", "there is no breakpoint number %d", n)
		}
	}
	if !slices.Contains([]string{"", "disable", "delete"}, a.Then) || a.Then != "" && len(a.Places) > 0 {
		return usage(command, "then may be disable or delete, for whole breakpoints", "then cannot be %q", protocol.Clip(a.Then))
	}
	return nil
}
