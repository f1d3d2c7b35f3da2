// A hint for programs that are linked with LeakSanitizer.

package console

import (
	"bytes"

	"sdm/protocol"
)

// leakCheck tells once that LeakSanitizer cannot work in ranks that are debugged.
type leakCheck struct{ told bool }

// leakComplaint is what LeakSanitizer writes when a process has a tracer, before it ends the process with status 1
// (compiler-rt, sanitizer_stoptheworld_linux_libcdep.cpp; lsan_common.cpp).
const leakComplaint = "LeakSanitizer does not work under ptrace"

// hint returns the hint if the output of ranks has the complaint and the hint was not given before, else "".
func (l *leakCheck) hint(g protocol.Group) string {
	if l.told || !g.Kind.IsOutput() || !bytes.Contains(g.Body, []byte(leakComplaint)) {
		return ""
	}
	l.told = true
	return "sdm: LeakSanitizer ends each debugged rank with status 1, whatever the program does; to debug it: --env ASAN_OPTIONS=detect_leaks=0 (with -fsanitize=leak: LSAN_OPTIONS)"
}
