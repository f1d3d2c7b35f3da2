// A rank that becomes its child: set follow-fork-mode child.

package gdb

import (
	"strconv"
	"strings"

	"sdm/protocol"
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

// forkSettings are gdb's settings about forks and execs that cannot be here, and what to do.
var forkSettings = []struct{ setting, value, why, hint string }{
	{"detach-on-fork", "off", "a rank is one process: a second one would stand still unseen", "set follow-fork-mode child goes with the child"},
	{"follow-exec-mode", "new", "a rank is one process, also when it starts another program in its place", "set follow-exec-mode same"},
}

// aboutForks answers a line that cannot be.
func (m *machine) aboutForks(q *request, line string) bool {
	words := strings.Fields(line)
	if len(words) > 1 && (words[0] == "catch" || words[0] == "tcatch") && words[1] == "vfork" && !m.target.AllStop {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "catch vfork is not handed to gdb", Hint: "without gdb in front it gives the rank a gdb that can resume it"})
		return true
	}
	if len(words) < 3 || words[0] != "set" && words[0] != "-gdb-set" {
		return false
	}
	refuse := func(why, hint string) bool {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strings.Join(words[1:], " ") + ": " + why, Hint: hint})
		return true
	}
	if m.gdb.shared() && words[1] == "follow-fork-mode" && words[2] == "child" {
		m.aloneFor(q, strconv.Quote(line))
		return true
	}
	for _, s := range forkSettings {
		if words[1] == s.setting && words[2] == s.value {
			return refuse(s.why, s.hint)
		}
	}
	return false
}
