// The messages of a server to its custodian, as text.

package custody

import (
	"fmt"
	"strconv"
	"strings"
)

// order is a line:
//
//	process PID BORN     is going to be attached to
//	stopped PID BORN     is going to be attached to, and is stopped by a signal already
//	debugger PID BORN    a gdb
//	forget PID 0         a process or a gdb that needs no custodian any more
type order struct {
	verb string
	pid  int
	born uint64 // see inferior.StartTime
}

const (
	processVerb  = "process"
	stoppedVerb  = "stopped"
	debuggerVerb = "debugger"
	forgetVerb   = "forget"
)

func (o order) line() string { return fmt.Sprintf("%s %d %d\n", o.verb, o.pid, o.born) }

// parseOrder reads a line. A line that is cut off by the end of the server is invalid.
func parseOrder(line string) (o order, ok bool) {
	f := strings.Fields(line)
	if len(f) != 3 || !strings.HasSuffix(line, "\n") {
		return order{}, false
	}
	pid, bad := strconv.Atoi(f[1])
	born, wrong := strconv.ParseUint(f[2], 10, 64)
	if bad != nil || wrong != nil || pid <= 1 {
		return order{}, false
	}
	switch f[0] {
	case processVerb, stoppedVerb, debuggerVerb, forgetVerb:
		return order{f[0], pid, born}, true
	}
	return order{}, false
}
