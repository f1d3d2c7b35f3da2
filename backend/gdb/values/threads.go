// The threads of a rank.

package values

import (
	"slices"

	"sdm/backend/mi"
)

// Thread is one thread of the target.
type Thread struct {
	ID      int // number within its inferior: equal on all ranks
	GDB     int // gdb's global number, which commands use
	Running bool
	// Stop is the record of its last stop; nil: none yet.
	Stop mi.Tuple
}

// Threads are sorted by ascending id.
type Threads []*Thread

// ByGDB finds a thread by gdb's global number.
func (t Threads) ByGDB(n int) *Thread {
	for _, th := range t {
		if th.GDB == n {
			return th
		}
	}
	return nil
}

// IDOf returns sdm's number of a thread for gdb's; 0: none.
func (t Threads) IDOf(n int) int {
	if th := t.ByGDB(n); th != nil {
		return th.ID
	}
	return 0
}

// Find returns the thread of a number, or nil.
func (t Threads) Find(id int) *Thread {
	for _, th := range t {
		if th.ID == id {
			return th
		}
	}
	return nil
}

// Remove removes the thread with a number of gdb.
func (t *Threads) Remove(n int) {
	*t = slices.DeleteFunc(*t, func(th *Thread) bool { return th.GDB == n })
}

// AnyRunning reports whether a thread runs.
func (t Threads) AnyRunning() bool {
	return slices.ContainsFunc(t, func(th *Thread) bool { return th.Running })
}

// StoppedBut returns the numbers of the stopped threads except one.
func (t Threads) StoppedBut(id int) []int {
	var ids []int
	for _, th := range t {
		if !th.Running && th.ID != id {
			ids = append(ids, th.ID)
		}
	}
	return ids
}
