package startup

import (
	"os"
	"runtime"
	"strings"
)

// most is enough for a vertex, its engine and the output of its ranks, each of
// which is one goroutine at a time. The node belongs to the job: Go would spread
// over all of its processors, with a thread to look for work on each and memory
// for each (measured with 64 to be used: 27 % more processor time for a command,
// 1.3 MB more memory). On a small node it takes half: with both of two, threads
// that look for work take the processor from the very gdbs that are waited for
// (print on 4 ranks: 1.4 to 1.7 times a bare relay against 1.1 to 1.2).
const most = 4

// LimitProcessors makes Go use no more than most processors and half of those that there
// are, unless the user has set GOMAXPROCS. Programs call it first of all.
func LimitProcessors() {
	have := runtime.GOMAXPROCS(0)
	if n := use(os.Environ(), have); n < have {
		runtime.GOMAXPROCS(n)
	}
}

// use gives the number to be used of those that there are.
func use(env []string, have int) int {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "GOMAXPROCS="); ok && value != "" {
			return have
		}
	}
	return max(1, min(have/2, most))
}
