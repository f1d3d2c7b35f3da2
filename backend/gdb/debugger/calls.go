// The commands that gdb has been sent and has not answered yet.

package debugger

import (
	"strings"
	"time"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
)

// call is one command to gdb.
type call struct {
	token int64
	task  string // what it is for, if it belongs to no request
	of    *request.Request
	sent  time.Duration
	then  func(request.Answer) // may be nil
	by    *core                // the machine that asked; nil: no rank
	request.Capture
	ignoreStop string // a thread whose stop is ignored during the call: it has not run
	text       strings.Builder

	warned strings.Builder

	made string // see request.Answer
}

// what describes for messages what gdb is busy with.
func (k *call) what() string {
	if k.of != nil {
		return k.of.What()
	}
	return k.task
}

// calls are the outstanding commands of a gdb. gdb executes them in order: the first is
// the one that it is busy with, and a result for a later one means that the earlier
// ones get none.
type calls struct {
	last  int64
	queue []*call
}

// maxToken is where tokens restart, when nothing is outstanding. They are short because
// gdb reads its commands byte by byte, each with a system call. A second result for a
// token follows the first one, long before the token is reused.
const maxToken = 99

// add appends a command and returns its token.
func (c *calls) add(k *call) int64 {
	if len(c.queue) == 0 && c.last >= maxToken {
		c.last = 0
	}
	c.last++
	k.token = c.last
	c.queue = append(c.queue, k)
	return k.token
}

// take returns the call of a result, and earlier calls that got none. For a second
// result of a token it returns nil.
func (c *calls) take(token int64) (k *call, skipped []*call) {
	for i, q := range c.queue {
		if q.token == token {
			if i == 0 && len(c.queue) == 1 { // the usual case
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

// interrupted discards the text printed so far: it was about a stop of another rank,
// which gdb reported before it executed the call.
func (c *calls) interrupted() {
	if k := c.current(); k != nil && !k.Raw {
		k.text.Reset()
		k.warned.Reset()
	}
}

// Drop removes and returns all outstanding calls.
func (c *calls) Drop() []*call {
	all := c.queue
	c.queue = nil
	return all
}

// forget has the results of a machine's calls ignored.
func (c *calls) forget(m *core) {
	for _, k := range c.queue {
		if k.by == m {
			k.by, k.then = nil, nil
		}
	}
}

// current returns the call that gdb is busy with, or nil.
func (c *calls) current() *call {
	if len(c.queue) == 0 {
		return nil
	}
	return c.queue[0]
}

// maxText bounds the text kept for a call, in bytes, like a line of MI.
const maxText = mi.MaxLine

// receive adds printed text to the call that asked for it; false if none did.
func (c *calls) receive(r mi.Record) bool {
	k := c.current()
	if k == nil || !k.Print || k.text.Len() > maxText {
		return k != nil && k.Print
	}
	switch {
	case k.Raw:
		k.text.WriteString(r.String())
		k.text.WriteByte('\n')
	case k.SeparateWarnings && r.Class == mi.Log:
		k.warned.WriteString(r.Text)
	case r.Class == mi.Other:
		k.text.WriteString(r.Text)
		k.text.WriteByte('\n')
	default:
		k.text.WriteString(r.Text)
	}
	return true
}

// unnested returns the text of console records that are nested in the text of one: gdb 18 prints the
// output of frame apply and thread apply as ~"~\"...\"".
func unnested(text string) string {
	if !strings.HasPrefix(text, `~"`) {
		return text
	}
	var inner strings.Builder
	var p mi.Parser
	others := false
	p.Feed([]byte(text), func(r mi.Record) {
		others = others || r.Class != mi.Console
		inner.WriteString(r.Text)
	})
	if others || inner.Len() == 0 {
		return text
	}
	return inner.String()
}
