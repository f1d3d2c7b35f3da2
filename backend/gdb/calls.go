// The commands that gdb has been sent and has not answered yet.

package gdb

import (
	"strings"
	"time"

	"sdm/backend/mi"
)

// answer is what gdb gave to one call.
type answer struct {
	mi.Record        // ^done, ^running, ^error
	text      string // what it printed meanwhile, where the call asked for it
	warned    string // what it warned of meanwhile, where the call wants that apart
	made      string // gdb's number of the breakpoint that its command line has made
}

// failed tells whether gdb refused.
func (a answer) failed() bool { return a.Name == "error" }

// call is one command of ours.
type call struct {
	token int64
	task  string // what it is for, where it is for no request
	of    *request
	sent  time.Duration
	then  func(answer) // may be nil
	by    *machine     // who has asked
	print bool         // what gdb prints belongs to the answer
	raw   bool         // … as MI, not as text
	apart bool         // … without what gdb warns of, which stands in warned
	still string       // a thread whose stop that gdb tells meanwhile is none: it has not run
	text  strings.Builder

	warned strings.Builder

	made string // see answer
}

// what says for people what gdb is busy with.
func (k *call) what() string {
	if k.of != nil {
		return k.of.what()
	}
	return k.task
}

// calls are a gdb's outstanding commands. gdb carries them out one after the
// other, so the first is the one that it is busy with, and a result for a later
// one tells that nothing comes any more for those before.
type calls struct {
	last  int64
	queue []*call
}

// maxToken is where tokens begin again as soon as nothing is outstanding: gdb reads
// its commands byte by byte, each with a system call. A second result for a
// token comes with the first one, long before that token does again.
const maxToken = 99

// add takes a command and gives its token.
func (c *calls) add(k *call) int64 {
	if len(c.queue) == 0 && c.last >= maxToken {
		c.last = 0
	}
	c.last++
	k.token = c.last
	c.queue = append(c.queue, k)
	return k.token
}

// take gives the call that a result answers, and those before it that gdb has
// passed over. A second result for a token finds none.
func (c *calls) take(token int64) (k *call, skipped []*call) {
	for i, q := range c.queue {
		if q.token == token {
			if i == 0 && len(c.queue) == 1 { // as a rule
				c.queue[0] = nil
				c.queue = c.queue[:0]
				return q, nil
			}
			skipped = c.queue[:i:i]
			c.queue = c.queue[i+1:]
			return q, skipped
		}
	}
	return nil, nil
}

// interrupted forgets what has been printed: it was about a stop of another rank, which gdb told
// before it began with the call.
func (c *calls) interrupted() {
	if k := c.current(); k != nil && !k.raw {
		k.text.Reset()
		k.warned.Reset()
	}
}

// drop gives all that is outstanding and forgets it.
func (c *calls) drop() []*call {
	all := c.queue
	c.queue = nil
	return all
}

// current is what gdb is busy with, or nil.
func (c *calls) current() *call {
	if len(c.queue) == 0 {
		return nil
	}
	return c.queue[0]
}

// maxText bounds what a call keeps of gdb's printing, in bytes, as a line of
// MI is bounded.
const maxText = mi.MaxLine

// hear gives printed text to the call that asked for it; false if none did.
func (c *calls) hear(r mi.Record) bool {
	k := c.current()
	if k == nil || !k.print || k.text.Len() > maxText {
		return k != nil && k.print
	}
	switch {
	case k.raw:
		k.text.WriteString(r.String())
		k.text.WriteByte('\n')
	case k.apart && r.Class == mi.Log:
		k.warned.WriteString(r.Text)
	case r.Class == mi.Other:
		k.text.WriteString(r.Text)
		k.text.WriteByte('\n')
	default:
		k.text.WriteString(r.Text)
	}
	return true
}
