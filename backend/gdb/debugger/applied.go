// Commands thread and thread apply.

package debugger

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
)

// chosenThread is the body of thread.
type chosenThread struct {
	Thread int            `json:"thread"`
	Frame  protocol.Frame `json:"frame"`
	Source string         `json:"source,omitempty"`
}

// chooseThread selects a thread, or shows the selected one.
func (m *Machine) chooseThread(q *Request) {
	s := m.chosen
	if n := q.args.Thread; n != 0 {
		if m.threads.find(n) == nil {
			m.fail(q, unknownThread(n))
			return
		}
		s = selection{thread: n}
	}
	m.listFrames(q, s.thread, s.frame, s.frame, func(frames []frame, refusal string) {
		if len(frames) == 0 {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
			return
		}
		if m.stateNow().Refuse(protocol.NeedStopped) == nil {
			m.chosen = s
		}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		c.frame("", frames[0])
		m.reply(q, chosenThread{s.thread, frames[0].Frame, m.lineOf(frames[0])}, c.sorted()...)
	})
}

func unknownThread(n int) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("Unknown thread %d.", n)}
}

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
func (m *Machine) applyToThreads(q *Request) {
	numbers, f := m.threadsNamed(q.args.Threads)
	row, ok := lookup(q.args.Apply)
	if !ok || !row.info.PerThread() {
		f = &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(q.args.Apply) + " cannot be applied to threads", Hint: "print, backtrace, info locals, x, ..."}
	}
	if f != nil {
		m.fail(q, f)
		return
	}
	body := applied{Apply: q.args.Apply, Threads: make([]threadApplied, len(numbers))}
	c := columnsOf(m.Target.Rank, q.args.Limit)
	left := len(numbers)
	for i, n := range numbers {
		sub := &Request{Command: &Command{Name: q.args.Apply, args: q.args}, ID: q.ID, began: q.began}
		sub.args.Thread = n
		sub.into = func(g protocol.Group) {
			t := threadApplied{Thread: n, Result: g.Body}
			if g.Kind == protocol.KindFault {
				t = threadApplied{Thread: n, Error: g.Body}
			}
			body.Threads[i] = t
			for _, column := range g.Columns {
				column.Name = strconv.Itoa(n) + ":" + column.Name
				c.list = append(c.list, column)
			}
			if left--; left == 0 {
				m.reply(q, body, c.sorted()...)
			}
		}
		row.do(m, sub)
	}
}

// threadsNamed parses "all", or numbers and ranges.
func (m *Machine) threadsNamed(text string) ([]int, *protocol.Fault) {
	var numbers []int
	if text == "all" {
		for _, t := range m.threads {
			numbers = append(numbers, t.id)
		}
		return numbers, nil
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		low, high, ranged := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if ranged && err == nil {
			last, err = strconv.Atoi(high)
		}
		if err != nil || first < 1 || last < first {
			return nil, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(part) + " is no thread", Hint: "all, 1, 2-4"}
		}
		for _, t := range m.threads {
			if t.id >= first && t.id <= last {
				numbers = append(numbers, t.id)
			}
		}
		if !ranged && m.threads.find(first) == nil {
			return nil, unknownThread(first)
		}
	}
	if len(numbers) == 0 {
		return nil, &protocol.Fault{Kind: protocol.FaultGDB, Message: "There are no such threads.", Hint: "info threads lists them"}
	}
	return numbers, nil
}
