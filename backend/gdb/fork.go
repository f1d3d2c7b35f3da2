// A rank that becomes its child: set follow-fork-mode child.

package gdb

import (
	"strconv"
	"strings"
)

// followed takes a thread group that gdb has made by itself: the program has forked, and gdb goes with
// the child and lets the parent run on. From then on the rank is the child, and ends as that does.
// gdb counts on (inferior 2, thread 2); for people it is thread 1.
func (m *machine) followed(group, pid string) {
	n, err := strconv.Atoi(pid)
	inferior, failed := strconv.Atoi(strings.TrimPrefix(group, "i"))
	if err != nil || failed != nil || group == m.group {
		return
	}
	m.child, m.target.PID = true, n
	m.group, m.inferior = group, inferior
	m.threads, m.counted = nil, 0
	m.unread.read = nil
	m.chosen = selection{thread: 1}
	if m.run != nil && m.run.thread != 0 {
		m.run.thread = 1
	}
	m.out.follow = n
}
