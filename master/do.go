// Execution of calls.

package master

import (
	"context"

	"sdm/master/session"
	"sdm/protocol"
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

func (m *Master) checkPhase(command string) *protocol.Fault {
	if m.ways[command].ends != nil && m.phase < closing {
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
	if ends := m.ways[info.Name].ends; ends != nil {
		return ends(m, c.Wait), nil
	}
	if info.NoRanks && !info.Takes("set") {
		if fault := m.checkHere(info, c.Args); fault != nil {
			return 0, fault
		}
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
	m.calls[id] = &openCall{info: info, began: began}
	m.evaluate(&evaluation{id: id, op: info.Name, text: text, sets: s, set: set, began: began, wait: wait,
		then: func(ranks rank.Set) {
			m.proceed(&execution{id, info, ranks, c.Args, left(wait, m.now()-began)})
		}})
	return id, nil
}

// checkHere refuses arguments that contradict the master's own tables.
func (m *Master) checkHere(info protocol.CommandInfo, a protocol.Args) *protocol.Fault {
	switch check := m.ways[info.Name].check; {
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

func (m *Master) sets() *sets {
	return &sets{all: m.states.All(), states: m.states, namedSets: m.namedSets, routes: m.routes, breakpoints: m.lastBreak}
}
