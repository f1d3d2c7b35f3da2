// Signals that whoever started us has had ignored.

package startup

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Heard gives those of some signals that are not ignored from the start, as nohup(1) has SIGHUP ignored and shells
// without job control SIGINT of what they start in the background. The others must not be caught: they
// stay ignored in us, and in what we start. The Go runtime tells of SIGHUP and SIGINT alone; of the others it
// has taken the handling over.
func Heard(signals ...syscall.Signal) []os.Signal {
	var heard []os.Signal
	for _, s := range signals {
		if !slices.Contains(heard, os.Signal(s)) && !signal.Ignored(s) {
			heard = append(heard, s)
		}
	}
	return heard
}
