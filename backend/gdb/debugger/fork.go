// A rank that becomes its child: set follow-fork-mode child.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/request"
)

// followed processes a thread group that gdb has created: the program has forked, and
// gdb follows the child and detaches from the parent. From then on the rank is the
// child, and ends with it. gdb numbers them inferior 2 and thread 2; to the user it is
// thread 1.
func (m *Machine) followed(group, pid string) {
	n, err := strconv.Atoi(pid)
	inferior, failed := strconv.Atoi(strings.TrimPrefix(group, "i"))
	if err != nil || failed != nil || group == m.threadGroup {
		return
	}
	m.Child, m.Target.PID = true, n
	m.threadGroup, m.inferior = group, inferior
	m.threads, m.counted = nil, 0
	m.Symbols.read = nil
	m.choose(request.Selection{Thread: 1})
	if m.run != nil && m.run.thread != 0 {
		m.run.thread = 1
	}
	m.Out.Follow = n
}
