// Error lines of a gdb that has ended.

package debugger

import (
	"slices"
	"strings"

	"sdm/protocol/pattern"
)

// ErrorTail keeps the lines that explain the end of a gdb: of its log, which has gdb's internal
// errors, and the last ones of its standard error, without stack traces. The zero value is ready.
type ErrorTail struct {
	reason      string   // the line of an internal error; "": none
	lines       []string // of standard error
	partialLine string   // a partial line
}

// Limits of what is kept.
const (
	maxErrorTail = 512 // bytes of a line
	maxLastLines = 8
)

var (
	// internalError matches a line that reports an internal error of gdb
	// (internal_vproblem, utils.c): "breakpoint.c:7511: internal-error: FUNCTION:
	// Assertion `…' failed."
	internalError = pattern.New(`(?m)^.*: internal-error: .*$`)
	// crashLine matches lines that go with it: addresses, and how to report the bug.
	crashLine = pattern.New(`^(?:0x[0-9a-f]+ |-----|Backtrace unavailable|A fatal error internal to GDB|A problem internal to GDB|` +
		`debugging is not possible|further debugging may prove|This is a bug|  ?For instructions|<https?://|$)`)
)

// ReceiveLog processes a piece of gdb's log.
func (w *ErrorTail) ReceiveLog(text string) {
	if line := internalError.FindString(text); line != "" {
		w.reason = strings.Clone(line[:min(len(line), maxErrorTail)])
	}
}

// Receive processes a piece of gdb's standard error.
func (w *ErrorTail) Receive(b []byte) {
	lines := strings.Split(w.partialLine+string(b), "\n")
	w.partialLine = lines[len(lines)-1]
	w.partialLine = w.partialLine[:min(len(w.partialLine), maxErrorTail)]
	for _, line := range lines[:len(lines)-1] {
		if !crashLine.MatchString(line) {
			w.lines = append(w.lines, line[:min(len(line), maxErrorTail)])
		}
	}
	w.lines = slices.Delete(w.lines, 0, max(0, len(w.lines)-maxLastLines))
}

// Text returns all of it in one line; "" if there is nothing.
func (w *ErrorTail) Text() string {
	all := slices.Clone(w.lines)
	if !crashLine.MatchString(w.partialLine) {
		all = append(all, w.partialLine)
	}
	if w.reason != "" {
		all = append([]string{w.reason}, slices.DeleteFunc(all, func(line string) bool { return line == w.reason })...)
	}
	return strings.TrimSpace(strings.Join(all, "; "))
}
