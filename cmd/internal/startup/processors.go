// How many processors a program uses.

package startup

import (
	"os"
	"runtime"
	"strings"
)

// most is the largest number of processors that a program uses. It is enough for a vertex, its
// engine and the output of its ranks, each of which is one goroutine at a time. The node belongs to
// the job, but Go would use all of its processors, with a thread on each that looks for work, and
// memory for each (measured with 64 processors: 27 % more processor time for a command, 1.3 MB more
// memory). On a small node half of the processors are
// used: with both of two, threads that look for work would take processor time from the gdbs (print
// on 4 ranks: 1.4 to 1.7 times a bare relay against 1.1 to 1.2).
const most = 4

// LimitProcessors limits Go to half of the processors that there are, and to the constant most,
// unless GOMAXPROCS is set. Programs call it at the start of main.
func LimitProcessors() {
	have := runtime.GOMAXPROCS(0)
	if n := use(os.Environ(), have); n < have {
		runtime.GOMAXPROCS(n)
	}
}

// use returns the number of processors to use.
func use(env []string, have int) int {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "GOMAXPROCS="); ok && value != "" {
			return have
		}
	}
	return max(1, min(have/2, most))
}
