// Error lines of a gdb that has ended.

package debugger

import (
	"regexp"
	"slices"
	"strings"
)

// LastWords are the lines that explain the end of a gdb: from its log, which has gdb's
// internal errors, and the last ones of its standard error, without stack traces.
type LastWords struct {
	reason string   // the line of an internal error; "": none
	lines  []string // of standard error
	part   string   // a partial line
}

// Limits of what is kept.
const (
	mostLastWords = 512 // bytes of a line
	mostLastLines = 8
)

var (
	// internalError matches a line that reports an internal error of gdb
	// (internal_vproblem, utils.c): "breakpoint.c:7511: internal-error: FUNCTION:
	// Assertion `…' failed."
	internalError = regexp.MustCompile(`(?m)^.*: internal-error: .*$`)
	// ofCrashes matches lines that go with it: addresses, and how to report the bug.
	ofCrashes = regexp.MustCompile(`^(?:0x[0-9a-f]+ |-----|Backtrace unavailable|A fatal error internal to GDB|A problem internal to GDB|` +
		`debugging is not possible|further debugging may prove|This is a bug|  ?For instructions|<https?://|$)`)
)

// HearLog processes a piece of gdb's log.
func (w *LastWords) HearLog(text string) {
	if line := internalError.FindString(text); line != "" {
		w.reason = strings.Clone(line[:min(len(line), mostLastWords)])
	}
}

// Hear processes a piece of gdb's standard error.
func (w *LastWords) Hear(b []byte) {
	lines := strings.Split(w.part+string(b), "\n")
	w.part = lines[len(lines)-1]
	w.part = w.part[:min(len(w.part), mostLastWords)]
	for _, line := range lines[:len(lines)-1] {
		if !ofCrashes.MatchString(line) {
			w.lines = append(w.lines, line[:min(len(line), mostLastWords)])
		}
	}
	w.lines = slices.Delete(w.lines, 0, max(0, len(w.lines)-mostLastLines))
}

// Text returns all of it in one line; "" if there is nothing.
func (w *LastWords) Text() string {
	all := slices.Clone(w.lines)
	if !ofCrashes.MatchString(w.part) {
		all = append(all, w.part)
	}
	if w.reason != "" {
		all = append([]string{w.reason}, slices.DeleteFunc(all, func(line string) bool { return line == w.reason })...)
	}
	return strings.TrimSpace(strings.Join(all, "; "))
}
