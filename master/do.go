// Execution of calls.

package master

import (
	"cmp"
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Do checks a call, numbers it and sends it down the tree, or answers it from the master's own
// tables; see session.Session. It does not block. A panic becomes the error of the call, and the
// session continues.
func (m *Master) Do(_ context.Context, c session.Call) (id protocol.RequestID, err error) {
	defer func() {
		if why := recover(); why != nil {
			id, err = 0, m.defect(c.Command, why)
		}
	}()
	info, fault := lookup(c.Command)
	if fault == nil {
		fault = checkArgs(info, c.Args)
	}
	if fault != nil {
		return 0, fault
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if fault := m.checkPhase(info.Name); fault != nil {
		return 0, fault
	}
	if id, fault = m.execute(info, c); fault != nil {
		return 0, fault
	}
	return id, nil
}

// defect logs a recovered panic and returns the fault to answer with.
func (m *Master) defect(op string, why any) *protocol.Fault {
	f := protocol.Defect(op, why)
	m.cfg.Log.Error(f.Message+": "+protocol.Report, "command", op, "stack", string(debug.Stack()))
	return f
}

func (m *Master) checkPhase(command string) *protocol.Fault {
	if command == "quit" && m.phase < closing {
		return nil
	}
	switch m.phase {
	case up:
		return nil
	case fresh, building:
		return usage(command, "initialize comes first", "the tree has not been built yet")
	case failed:
		return usage(command, "end the session and look after the servers", "the tree could not be built")
	}
	return usage(command, "", "the session has ended")
}

func (m *Master) execute(info protocol.CommandInfo, c session.Call) (protocol.RequestID, *protocol.Fault) {
	switch {
	case info.Name == "quit":
		return m.quitCall(c.Wait), nil
	case info.NoRanks && !info.Takes("set"):
		id := m.nextID()
		m.proceed(&execution{id: id, info: info, args: c.Args})
		return id, nil
	}
	c.Args = m.resolveLast(c.Args)
	text := c.Ranks
	if info.NoRanks {
		text = c.Args.Set
	}
	s := m.sets()
	set, fault := s.read(info.Name, text)
	if fault == nil {
		fault = m.checkHere(info, c.Args)
	}
	if fault != nil {
		return 0, fault
	}
	id, wait := m.nextID(), m.waitOf(c.Wait)
	began := m.now()
	if ranks := set.Eval(nil); len(set.Open()) == 0 {
		if ranks.IsEmpty() {
			m.refuse(id, info.Name, rank.Set{}, began, s.noRanks(info.Name, text))
		} else {
			m.proceed(&execution{id, info, ranks, c.Args, wait})
		}
		return id, nil
	}
	m.evaluate(&evaluation{id: id, op: info.Name, text: text, sets: s, set: set, began: began, wait: wait,
		then: func(ranks rank.Set) {
			m.proceed(&execution{id, info, ranks, c.Args, left(wait, m.now()-began)})
		}})
	return id, nil
}

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
	case info.Name == "commands" && len(a.Breakpoints) == 0:
		a.Breakpoints = []int{m.lastBreak}
	}
}

// checkHere refuses arguments that contradict the master's own tables.
func (m *Master) checkHere(info protocol.CommandInfo, a protocol.Args) *protocol.Fault {
	switch check := ways[info.Name].check; {
	case check != nil:
		return check(m, a)
	case info.Takes("breakpoints"):
		return m.checkBreakpoints(info.Name, a)
	case info.Takes("displays"):
		for _, n := range a.Displays {
			if n < 1 || n > m.lastDisplay {
				return usage(info.Name, "info display lists them", "there is no display number %d", n)
			}
		}
	}
	return nil
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

// waitOf converts the wait of a call to that of a packet, where 0 is no limit.
func (m *Master) waitOf(wait time.Duration) time.Duration {
	switch {
	case wait == 0:
		return m.cfg.Wait
	case wait < 0:
		return 0
	}
	return wait
}

func (m *Master) nextID() protocol.RequestID {
	m.lastID++
	return m.lastID
}

func (m *Master) sets() *sets {
	return &sets{all: m.states.All(), states: m.states, groups: m.groups, routes: m.routes, breakpoints: m.lastBreak}
}

// answer answers a command from the master's own tables, at once.
func (m *Master) answer(id protocol.RequestID, command string, groups ...protocol.Group) {
	began := m.now()
	var asked rank.Set
	for _, g := range groups {
		asked = asked.Union(g.Ranks)
		m.stream.Push(session.Event{Name: g.Kind.String(), ID: id, Command: command, Group: g})
	}
	m.stream.Push(session.Event{Name: session.DoneName, ID: id, Command: command,
		Done: &session.Done{Asked: asked.Len(), Answered: asked.Len(), Took: m.now() - began}})
}

// statusGroups returns the answers to "ranks".
func (m *Master) statusGroups(ranks rank.Set) []protocol.Group {
	var groups []protocol.Group
	for _, g := range m.states.Groups(ranks) {
		groups = append(groups, protocol.Group{Kind: protocol.KindResult, Ranks: g.Ranks, Body: canonical.JSON(g.Status)})
	}
	return groups
}

// named is the result of "focus", "group" and "groups".
type named struct {
	Name string `json:"name,omitempty"`
	Set  string `json:"set"` // in canonical form
}

func namedGroup(name string, set rank.Set) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: set, Body: canonical.JSON(named{name, set.String()})}
}

// maxGroups bounds the number of named groups.
const maxGroups = 4096

func (m *Master) checkName(name string) *protocol.Fault {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	bad := strings.ContainsFunc(name, func(r rune) bool { return !strings.ContainsRune(letters, r) })
	if bad || len(name) > 64 {
		return usage("group", "use letters, digits and _", "%q cannot be the name of a group", protocol.Clip(name))
	}
	if _, taken := m.states.Lookup(name); taken {
		return usage("group", "take another name", "@%s already means the ranks in that state", name)
	}
	if _, known := m.groups[name]; !known && len(m.groups) >= maxGroups {
		return usage("group", "use a name again", "there are already %d groups", maxGroups)
	}
	return nil
}

func (m *Master) namedGroups() []protocol.Group {
	var groups []protocol.Group
	for _, name := range slices.Sorted(maps.Keys(m.groups)) {
		groups = append(groups, namedGroup(name, m.groups[name]))
	}
	return groups
}

// quitCall ends the session for a call; its done is the last event. Links to servers that have not
// ended within the wait are closed.
func (m *Master) quitCall(wait time.Duration) protocol.RequestID {
	id := m.nextID()
	m.quits = append(m.quits, quitting{id, m.now()})
	m.quit()
	if wait = m.waitOf(wait); wait > 0 && m.quitLimit == nil {
		m.quitLimit = time.AfterFunc(wait, m.stop)
	}
	return id
}
