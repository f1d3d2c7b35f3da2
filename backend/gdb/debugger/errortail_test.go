package debugger

import (
	"strings"
	"testing"
)

func TestLastWords(t *testing.T) {
	const (
		assertion = "./gdb/thread.c:85: internal-error: inferior_thread: Assertion `current_thread_ != nullptr' failed."
		bug       = "\nThis is a bug, please report it.  For instructions, see:\n<https://www.gnu.org/software/gdb/bugs/>.\n\n"
	)
	trace := "----- Backtrace -----\n" + strings.Repeat("0x5573296ed4c4 ???\n", 60) + "0x7f59474340d6 __libc_start_main\n---------------------\n"
	for _, c := range []struct{ name, log, errors, want string }{
		{"gdb 13, 16", assertion + "\nA problem internal to GDB has been detected,\nfurther debugging may prove unreliable.", "", assertion},
		{"gdb 18, whose addresses are no log", assertion + "\nA problem internal to GDB has been detected,\nfurther debugging may prove unreliable.", trace, assertion},
		{"a signal", "", "\n\nFatal signal: Segmentation fault\n" + trace + "A fatal error internal to GDB has been detected, further\ndebugging is not possible.  GDB will now terminate.\n" + bug, "Fatal signal: Segmentation fault"},
		{"it does not start", "", "gdb: error while loading shared libraries: libfoo.so.1: cannot open shared object file", "gdb: error while loading shared libraries: libfoo.so.1: cannot open shared object file"},
		{"several lines", "", "one\ntwo\n\nthree\n", "one; two; three"},
		{"a flood", "", strings.Repeat("x\n", 50), "x; x; x; x; x; x; x; x"},
		{"nothing", "No symbol \"x\" in current context.\n", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w ErrorTail
			w.ReceiveLog(c.log)
			for piece := []byte(c.errors); len(piece) > 0; piece = piece[min(7, len(piece)):] {
				w.Receive(piece[:min(7, len(piece))])
			}
			if got := w.Text(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
