// The clocks of processes.

package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// CPUTime returns the processor time that all threads of a process have used, also those that have ended, from its
// clock, which counts nanoseconds (clock_getcpuclockid(3), include/linux/posix-timers.h of the kernel). Only what a
// processor does at the moment may be missing. An error says that there is no such process.
func CPUTime(pid int) (time.Duration, error) {
	const sched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, err
	}
	return time.Duration(t.Nano()), nil
}
