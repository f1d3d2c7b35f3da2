// Steps with a count that gdb gives up half-way.

package gdb

import (
	"strings"

	"sdm/backend/mi"
	"sdm/protocol"
)

// complained takes a line of gdb's log while the rank runs. When a step with a
// count cannot be repeated ("next 2", and the first has ended in a function
// without symbols), gdb says why on its log and nothing else: no *stopped and
// no result. So gdb is asked whether the thread stands.
func (m *machine) complained(text string) {
	r := m.run
	if r == nil || !r.started || r.thread == 0 || r.stopped != 0 || r.request.args.Count < 2 || !isStep(r.request.name) {
		return
	}
	m.ask(ours(r.request.name), func(a answer) {
		stop, stands := standing(a.Results)
		if m.run != r || r.stopped != 0 || !stands {
			return
		}
		m.event(protocol.KindNote, protocol.Note{Text: strings.TrimSpace(text)})
		m.stopped(stop)
	}, "-thread-info", m.gdbThread(r.thread))
}

// standing makes the *stopped that gdb owes of what -thread-info says of a
// thread; false if it runs.
func standing(info mi.Tuple) (mi.Tuple, bool) {
	list, _ := info.Get("threads")
	for _, f := range list.Fields {
		t := f.Value.Fields
		frame, ok := t.Get("frame")
		return mi.Tuple{
			{Name: "reason", Value: mi.Value{Str: "end-stepping-range"}},
			{Name: "frame", Value: frame},
			{Name: "thread-id", Value: mi.Value{Str: t.Str("id")}},
		}, ok && t.Str("state") == "stopped"
	}
	return nil, false
}
