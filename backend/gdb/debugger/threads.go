// The threads of a rank.

package debugger

import (
	"slices"
	"strconv"

	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// Thread returns a thread by gdb's global number, and adds it if it is unknown. In a
// gdb with one rank both numbers are equal; otherwise threads are counted here, as gdb
// counts those of each inferior.
func (m *Machine) Thread(n int) *values.Thread {
	if th := m.threads.ByGDB(n); th != nil {
		return th
	}
	m.counted++
	th := &values.Thread{ID: m.counted, GDB: n}
	if !m.GDB.Shared() && !m.Child && !m.recounts {
		th.ID = n
	}
	m.threads = append(m.threads, th)
	slices.SortFunc(m.threads, func(a, b *values.Thread) int { return a.ID - b.ID })
	return th
}

// GDBThread returns the number of a thread for commands. For an unknown thread it
// returns one that gdb refuses, not that of another rank's thread.
func (m *Machine) GDBThread(id int) string {
	if th := m.threads.Find(id); th != nil {
		return strconv.Itoa(th.GDB)
	}
	if !m.GDB.Shared() {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(noThread + id)
}

// noThread is larger than all numbers of threads that gdb assigns.
const noThread = 1 << 20

// setRunning processes *running,thread-id="all" or a number.
func (m *Machine) setRunning(id string) {
	if id == "all" {
		for _, th := range m.threads {
			th.Running = true
		}
		return
	}
	if n, err := strconv.Atoi(id); err == nil {
		m.Thread(n).Running = true
	}
}

// setStopped processes *stopped: the thread that stopped, and those that stopped with
// it; in non-stop mode there are none.
func (m *Machine) setStopped(stop mi.Tuple) (first *values.Thread) {
	id, ok := stop.Int("thread-id")
	if !ok {
		return nil
	}
	first = m.Thread(id)
	first.Running, first.Stop = false, oneReason(stop)
	with, _ := stop.Get("stopped-threads")
	if with.Kind == mi.String && with.Str == "all" {
		for _, th := range m.threads {
			th.Running = false
		}
	}
	return first
}
