// The threads of a rank, as gdb tells of them.

package gdb

import (
	"slices"
	"strconv"

	"sdm/backend/mi"
)

// thread is one thread of the target.
type thread struct {
	id      int // as gdb counts the threads of this inferior: equal on all ranks
	gdb     int // as gdb counts all of its threads, which commands name
	running bool
	// stop is the record with which it stopped last, nil before.
	stop mi.Tuple
}

// threads are sorted by number: gdb counts up.
type threads []*thread

// byGDB finds a thread by gdb's count of all.
func (t threads) byGDB(n int) *thread {
	for _, th := range t {
		if th.gdb == n {
			return th
		}
	}
	return nil
}

// ours gives our number of a thread for gdb's, or 0.
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

// thread gives a thread by gdb's count of all. One that was not known is new;
// gdb may have told before. In a gdb of its own a rank's threads have one number;
// else they are counted here, as gdb counts those of each inferior.
func (m *machine) thread(n int) *thread {
	if th := m.threads.byGDB(n); th != nil {
		return th
	}
	m.counted++
	th := &thread{id: m.counted, gdb: n}
	if !m.gdb.shared() && !m.child && !m.recounts {
		th.id = n
	}
	m.threads = append(m.threads, th)
	slices.SortFunc(m.threads, func(a, b *thread) int { return a.id - b.id })
	return th
}

func (t *threads) remove(n int) {
	*t = slices.DeleteFunc(*t, func(th *thread) bool { return th.gdb == n })
}

// gdbThread is what commands call a thread of ours. One that does not exist is
// named so that gdb refuses it, and not that of another rank.
func (m *machine) gdbThread(id int) string {
	if th := m.threads.find(id); th != nil {
		return strconv.Itoa(th.gdb)
	}
	if !m.gdb.shared() {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(noThread + id)
}

// noThread is beyond all numbers that gdb has ever given.
const noThread = 1 << 20

func (t threads) anyRunning() bool {
	return slices.ContainsFunc(t, func(th *thread) bool { return th.running })
}

// setRunning follows *running,thread-id="all" or a number.
func (m *machine) setRunning(id string) {
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

// setStopped follows *stopped: the thread that stopped, and those that stopped
// with it, which in non-stop is itself only.
func (m *machine) setStopped(stop mi.Tuple) (first *thread) {
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

// ids are the numbers of those that are stopped, but for one.
func (t threads) stoppedBut(id int) []int {
	var ids []int
	for _, th := range t {
		if !th.running && th.id != id {
			ids = append(ids, th.id)
		}
	}
	return ids
}
