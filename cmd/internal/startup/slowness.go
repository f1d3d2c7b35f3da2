// How busy this machine is, for waits that the user has not set.

package startup

import (
	"os"
	"strconv"
	"strings"
)

// maxSlowness bounds what Slowness returns.
const maxSlowness = 4

// Slowness returns how many times as long as on an idle machine a start takes here now, from 1 to 4: the time in
// which the first thread of this process ran or wanted to run, over that in which it ran (Linux
// Documentation/scheduler/sched-stats.rst, /proc/PID/schedstat). A gdb that starts beside 15 busy processes for each
// processor takes five times as long, and so does this program. It is 1 if the kernel does not tell.
func Slowness() int {
	text, err := os.ReadFile("/proc/self/schedstat")
	if err != nil {
		return 1
	}
	return slowness(string(text))
}

// slowness decides by the text of schedstat: nanoseconds of running, nanoseconds of waiting to run, and a count.
func slowness(text string) int {
	fields := strings.Fields(text)
	if len(fields) != 3 {
		return 1
	}
	ran, err := strconv.ParseFloat(fields[0], 64)
	waited, bad := strconv.ParseFloat(fields[1], 64)
	if err != nil || bad != nil || !(ran > 0) {
		return 1
	}
	if times := (ran+waited)/ran + 0.5; times > 1 { // neither negative nor NaN
		return int(min(times, maxSlowness))
	}
	return 1
}
