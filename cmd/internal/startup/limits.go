// Limits under which our programs cannot run.

package startup

import (
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// leastSpace is how much address space our programs need, in bytes: the runtime of Go reserves 1 GiB or more, of which it uses
// little. Below 0.8 GiB it ends before main, with a trace of its own; in between it is a matter of luck.
const leastSpace = 3 << 29

// TooLittleSpace says in one line that the limit of the address space (ulimit -v) is too low. Programs call it first thing in main.
func TooLittleSpace(program string, stderr io.Writer) bool {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &limit); err != nil || limit.Cur >= leastSpace {
		return false
	}
	fmt.Fprintf(stderr, "%s: the address space is limited to %d KiB (ulimit -v), and at least %d are needed: ulimit -v unlimited\n", program, limit.Cur>>10, leastSpace>>10)
	return true
}
