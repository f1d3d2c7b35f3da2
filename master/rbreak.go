// The command rbreak.

package master

import (
	"encoding/json"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// breakMatching collects the functions that the ranks have found for an rbreak, numbers them, the
// same on all ranks, and sets breakpoints there. Ranks that have not started get the same
// breakpoints when they start.
func (m *Master) breakMatching(id protocol.RequestID, args protocol.Args, present, absent rank.Set, wait,
	began time.Duration) {
	o := m.callOperation(id, "rbreak", present, began)
	m.collect(o, id, func(answers []session.Event, done session.Done) {
		having := map[string]rank.Set{}
		var found rank.Set
		var rest []session.Event
		for _, e := range answers {
			var body struct{ Functions []string }
			if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &body) != nil {
				rest = append(rest, e)
				continue
			}
			found = found.Union(e.Group.Ranks)
			for _, f := range body.Functions {
				having[f] = having[f].Union(e.Group.Ranks)
			}
		}
		finish := func(events []session.Event) {
			for _, e := range append(events, rest...) {
				e.ID, e.Command = id, "rbreak"
				m.push(e)
			}
			done.Took = m.now() - began
			m.push(session.Event{Name: session.DoneName, ID: id, Command: "rbreak", Done: &done})
		}
		switch {
		case len(having) == 0:
			finish(nil)
			return
		case len(having) > protocol.MaxFunctions: // the total of several programs
			f := protocol.TooManyFunctions(args.Expr)
			f.Op = "rbreak"
			done.Faults += found.Len()
			finish([]session.Event{session.NewEvent(protocol.Group{Kind: protocol.KindFault, Ranks: found,
				Body: canonical.JSON(f)})})
			return
		}
		args.Functions = make([]string, 0, len(having))
		for f := range having {
			args.Functions = append(args.Functions, f)
		}
		slices.Sort(args.Functions)
		args.Breakpoint = m.lastBreak + 1
		m.lastBreak += len(having)
		var pending []protocol.BreakpointInfo
		for i, f := range args.Functions {
			a := protocol.Args{Location: f, Breakpoint: args.Breakpoint + i}
			m.persistent.add(id, "break", a, having[f].Union(absent))
			pending = append(pending, infoOf("break", a))
		}
		if !absent.IsEmpty() {
			done.Asked, done.Answered = done.Asked+absent.Len(), done.Answered+absent.Len()
			rest = append(rest, session.NewEvent(listed(absent, pending...)))
		}
		m.ask(o, "rbreak", found, left(wait, m.now()-began), args, func(answers []session.Event, again session.Done) {
			done.Answered -= again.Asked - again.Answered
			done.Faults += again.Faults
			done.Missing, done.Lost = done.Missing.Union(again.Missing), done.Lost.Union(again.Lost)
			finish(answers)
		})
	})
}
