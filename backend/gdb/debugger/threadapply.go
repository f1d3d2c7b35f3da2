// The command thread apply.

package debugger

import (
	"encoding/json"
	"strconv"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// applied is the body of thread apply. Columns of thread N are those of the command,
// prefixed with "N:".
type applied struct {
	Apply   string          `json:"apply"`
	Threads []threadApplied `json:"threads"`
}

type threadApplied struct {
	Thread int             `json:"thread"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// applyToThreads executes the command for each thread and answers once.
func (m *Machine) applyToThreads(q *request.Request) {
	numbers, f := m.values.Frames.ThreadsNamed(q.Args.Threads)
	row, ok := lookup(q.Args.Apply)
	if !ok || !row.info.PerThread() {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.Args.Apply) + " cannot be applied to threads", Hint: "print, backtrace, info locals, x, ..."}
	}
	if f != nil {
		m.Fail(q, f)
		return
	}
	body := applied{Apply: q.Args.Apply, Threads: make([]threadApplied, len(numbers))}
	c := values.ColumnsOf(m.Target.Rank, q.Args.Limit)
	left := len(numbers)
	for i, n := range numbers {
		sub := &request.Request{Command: &request.Command{Name: q.Args.Apply, Args: q.Args}, ID: q.ID, Began: q.Began}
		sub.Args.Thread = n
		sub.Into = func(g protocol.Group) {
			t := threadApplied{Thread: n, Result: g.Body}
			if g.Kind == protocol.KindFault {
				t = threadApplied{Thread: n, Error: g.Body}
			}
			body.Threads[i] = t
			for _, column := range g.Columns {
				column.Name = strconv.Itoa(n) + ":" + column.Name
				c.Append(column)
			}
			if left--; left == 0 {
				m.Reply(q, body, c.Sorted()...)
			}
		}
		row.do(m, sub)
	}
}
