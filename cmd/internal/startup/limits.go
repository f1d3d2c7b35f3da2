// Limits under which the programs cannot run.

package startup

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// leastSpace is the address space that a program needs, in bytes. The Go runtime reserves 1 GiB or
// more, and uses little of it. Below 0.8 GiB it fails before main with a trace; in between it may
// fail.
const leastSpace = 3 << 29

// TooLittleSpace reports whether the limit of the address space (ulimit -v) is too low, and writes
// a message if so. Programs call it at the start of main.
func TooLittleSpace(program string, stderr io.Writer) bool {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur >= leastSpace {
		return false
	}
	fmt.Fprintf(stderr, "%s: the address space is limited to %d KiB (ulimit -v), and at least %d are needed: ulimit -v unlimited\n", program, limit.Cur>>10, leastSpace>>10)
	return true
}
