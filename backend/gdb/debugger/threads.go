// The threads of a rank.

package debugger

import (
	"slices"
	"strconv"

	"sdm/backend/mi"
)

// thread is one thread of the target.
type thread struct {
	id      int // number within its inferior: equal on all ranks
	gdb     int // gdb's global number, which commands use
	running bool
	// stop is the record of its last stop; nil: none yet.
	stop mi.Tuple
}

// threads are sorted by ascending id.
type threads []*thread

// byGDB finds a thread by gdb's global number.
func (t threads) byGDB(n int) *thread {
	for _, th := range t {
		if th.gdb == n {
			return th
		}
	}
	return nil
}

// ours returns sdm's number of a thread for gdb's; 0: none.
func (t threads) ours(n int) int {
	if th := t.byGDB(n); th != nil {
		return th.id
	}
	return 0
}

func (t threads) find(id int) *thread {
	for _, th := range t {
		if th.id == id {
			return th
		}
	}
	return nil
}

// thread returns a thread by gdb's global number, and adds it if it is unknown. In a
// gdb with one rank both numbers are equal; otherwise threads are counted here, as gdb
// counts those of each inferior.
func (m *Machine) thread(n int) *thread {
	if th := m.threads.byGDB(n); th != nil {
		return th
	}
	m.counted++
	th := &thread{id: m.counted, gdb: n}
	if !m.GDB.Shared() && !m.Child && !m.recounts {
		th.id = n
	}
	m.threads = append(m.threads, th)
	slices.SortFunc(m.threads, func(a, b *thread) int { return a.id - b.id })
	return th
}

func (t *threads) remove(n int) {
	*t = slices.DeleteFunc(*t, func(th *thread) bool { return th.gdb == n })
}

// gdbThread returns the number of a thread for commands. For an unknown thread it
// returns one that gdb refuses, not that of another rank's thread.
func (m *Machine) gdbThread(id int) string {
	if th := m.threads.find(id); th != nil {
		return strconv.Itoa(th.gdb)
	}
	if !m.GDB.Shared() {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(noThread + id)
}

// noThread is larger than all numbers of threads that gdb assigns.
const noThread = 1 << 20

func (t threads) anyRunning() bool {
	return slices.ContainsFunc(t, func(th *thread) bool { return th.running })
}

// setRunning processes *running,thread-id="all" or a number.
func (m *Machine) setRunning(id string) {
	if id == "all" {
		for _, th := range m.threads {
			th.running = true
		}
		return
	}
	if n, err := strconv.Atoi(id); err == nil {
		m.thread(n).running = true
	}
}

// setStopped processes *stopped: the thread that stopped, and those that stopped with
// it; in non-stop mode there are none.
func (m *Machine) setStopped(stop mi.Tuple) (first *thread) {
	id, ok := stop.Int("thread-id")
	if !ok {
		return nil
	}
	first = m.thread(id)
	first.running, first.stop = false, oneReason(stop)
	with, _ := stop.Get("stopped-threads")
	if with.Kind == mi.String && with.Str == "all" {
		for _, th := range m.threads {
			th.running = false
		}
	}
	return first
}

// stoppedBut returns the numbers of the stopped threads except one.
func (t threads) stoppedBut(id int) []int {
	var ids []int
	for _, th := range t {
		if !th.running && th.id != id {
			ids = append(ids, th.id)
		}
	}
	return ids
}
