// Stacks of processes.

package probe

import (
	"bytes"
	"io"

	"sdm/backend/probe/hold"
	"sdm/protocol/stack"
)

// sample is the stacks of one process.
type sample struct {
	err     error // nothing could be read
	threads [][]stack.Frame
}

// bytesAt reads an image from memory that was copied.
func bytesAt(b []byte) io.ReaderAt { return bytes.NewReader(b) }

// view is how stacks are shown.
type view struct {
	by  string // granularity: function, line or address
	all bool   // helper threads of runtimes are not folded
}

// take stops all threads of processes at once, copies their stacks, lets them go and follows the
// stacks.
func (c cache) take(pids []int, v view) []sample {
	out := make([]sample, len(pids))
	var known []*process
	var index, live []int
	for i, pid := range pids {
		p, err := c.look(pid)
		if out[i].err = err; err == nil {
			known, index, live = append(known, p), append(index, i), append(live, pid)
		}
	}
	held := hold.Together(live, hold.Defaults, hold.Steps{
		StackEnd: func(i int, sp uint64) uint64 { return known[i].stackEnd(sp) },
	})
	for i := range held {
		s := &out[index[i]]
		shot := known[i].snapshot(&held[i])
		for t := range shot.Threads {
			s.threads = append(s.threads, known[i].frames(&shot.Threads[t], v))
		}
		if len(s.threads) == 0 {
			s.err = errNoMemory
		}
	}
	return out
}
