// What a gdb has said that explains its end.

package gdb

import (
	"regexp"
	"slices"
	"strings"
)

// lastWords are the lines that tell why a gdb has ended: from its log, where it tells of
// errors of its own, and the last ones of its standard error without the addresses of its
// functions, which come by the screenful.
type lastWords struct {
	reason string   // the line of an internal error; "": there was none
	lines  []string // of standard error
	part   string   // of a line that goes on
}

// Bounds on what is kept.
const (
	mostLastWords = 512 // bytes of a line
	mostLastLines = 8
)

var (
	// internalError is a line by which gdb tells of an error of its own (internal_vproblem,
	// utils.c): "breakpoint.c:7511: internal-error: FUNCTION: Assertion `…' failed."
	internalError = regexp.MustCompile(`(?m)^.*: internal-error: .*$`)
	// ofCrashes are lines around the reason: addresses, and what to do with the bug.
	ofCrashes = regexp.MustCompile(`^(?:0x[0-9a-f]+ |-----|Backtrace unavailable|A fatal error internal to GDB|A problem internal to GDB|` +
		`debugging is not possible|further debugging may prove|This is a bug|  ?For instructions|<https?://|$)`)
)

// hearLog takes a piece of gdb's log.
func (w *lastWords) hearLog(text string) {
	if line := internalError.FindString(text); line != "" {
		w.reason = strings.Clone(line[:min(len(line), mostLastWords)])
	}
}

// hear takes a piece of gdb's standard error.
func (w *lastWords) hear(b []byte) {
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

// text is all of it in one line; "" if there is nothing.
func (w *lastWords) text() string {
	all := slices.Clone(w.lines)
	if !ofCrashes.MatchString(w.part) {
		all = append(all, w.part)
	}
	if w.reason != "" {
		all = append([]string{w.reason}, slices.DeleteFunc(all, func(line string) bool { return line == w.reason })...)
	}
	return strings.TrimSpace(strings.Join(all, "; "))
}
