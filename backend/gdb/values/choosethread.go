// The command thread, and lists of threads.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// chosenThread is the body of thread.
type chosenThread struct {
	Thread int            `json:"thread"`
	Frame  protocol.Frame `json:"frame"`
	Source string         `json:"source,omitempty"`
}

// chooseThread selects a thread, or shows the selected one.
func (fr *Frames) chooseThread(q *request.Request) {
	s := fr.Chosen()
	if n := q.Args.Thread; n != 0 {
		if fr.Threads().Find(n) == nil {
			fr.Fail(q, UnknownThread(n))
			return
		}
		s = request.Selection{Thread: n}
	}
	fr.ListFrames(q, s.Thread, s.Frame, s.Frame, func(frames []Frame, refusal string) {
		if len(frames) == 0 {
			fr.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: refusal})
			return
		}
		if fr.StateNow().Refuse(protocol.NeedStopped) == nil {
			fr.Choose(s)
		}
		c := ColumnsOf(fr.Process().Rank, q.Args.Limit)
		c.Frame("", frames[0])
		fr.Reply(q, chosenThread{s.Thread, frames[0].Frame, fr.LineOf(frames[0])}, c.Sorted()...)
	})
}

// ThreadsNamed parses "all", or numbers and ranges.
func (fr *Frames) ThreadsNamed(text string) ([]int, *protocol.Fault) {
	var numbers []int
	if text == "all" {
		for _, t := range fr.Threads() {
			numbers = append(numbers, t.ID)
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
		for _, t := range fr.Threads() {
			if t.ID >= first && t.ID <= last {
				numbers = append(numbers, t.ID)
			}
		}
		if !ranged && fr.Threads().Find(first) == nil {
			return nil, UnknownThread(first)
		}
	}
	if len(numbers) == 0 {
		return nil, &protocol.Fault{Kind: protocol.FaultGDB, Message: "There are no such threads.", Hint: "info threads lists them"}
	}
	return numbers, nil
}
