// Standard output, whose device may be full, or whose reader may have closed it.

package main

import (
	"errors"
	"io"
	"strings"
	"sync"
	"syscall"

	"sdm/master/frontend/console"
	"sdm/master/text"
)

// outlet is our standard output. Write is safe for concurrent use and writes each piece as a whole.
// After the first error nothing more is written.
type outlet struct {
	w io.Writer

	mu     sync.Mutex
	err    error
	broken func(error) // called once, with the first error; may be nil
}

func newOutlet(w io.Writer, broken func(error)) *outlet { return &outlet{w: w, broken: broken} }

// Write writes all of b, or returns the first error of all Writes.
func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if o.err = err; err != nil && o.broken != nil {
		o.broken(err)
	}
	return n, err
}

// onBroken replaces the function that is called with the first error.
func (o *outlet) onBroken(f func(error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = f
}

// exitStatus returns the exit status of an invocation that has written to o. A failed Write turns
// success into a failure.
func (o *outlet) exitStatus(status console.Status) console.Status {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err == nil || status != console.StatusGood:
		return status
	case errors.Is(o.err, syscall.EPIPE):
		return statusPipe
	}
	return console.StatusRankFailed
}

// errPipe ends an invocation whose reader has closed standard output.
var errPipe = errors.New("nothing reads standard output any more")

// statusPipe is the exit status that a shell shows for an end by SIGPIPE.
const statusPipe = console.Status(128 + int(syscall.SIGPIPE))

// cleanLines removes control characters from each line of a message, since it may contain text of a
// starter, a host or a file.
func cleanLines(said string) string {
	lines := strings.Split(said, "\n")
	for i := range lines {
		lines[i] = text.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// plainError leaves out the names of the call and the file.
func plainError(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}
