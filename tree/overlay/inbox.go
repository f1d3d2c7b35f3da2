// The queue of a vertex, and the lock of the vertex.

package overlay

import (
	"sync"

	"sdm/protocol/wire"
	"sdm/tree"
)

// maxInbox is the number of bytes from readers at which they wait.
const maxInbox = 1 << 20

// maxSpare is the largest entry list that is reused.
const maxSpare = 1024

// entry is one item for the holder of the vertex lock: a packet (from), an input,
// or a function.
type entry struct {
	from *neighbour
	msg  wire.Message
	in   tree.Input
	do   func()
	link Link // of do; closed if do is never called

	size   int // bytes of a packet
	output int // bytes of output of ranks
}

// inbox is the queue of a vertex and the vertex lock: the right to access the
// vertex.
type inbox struct {
	mu      sync.Mutex
	changed sync.Cond // entries were taken, the lock is free, or the loop has ended
	entries []entry
	spare   []entry
	size    int // sums over entries
	output  int
	locked  bool // the vertex lock is taken
	ended   bool
}

// newInbox returns an inbox whose vertex lock the caller holds.
func newInbox() *inbox {
	in := &inbox{locked: true}
	in.changed.L = &in.mu
	return in
}

// add appends entries. If the vertex lock is free the caller gets it; otherwise the
// holder will process the entries. ok is false after the end.
func (in *inbox) add(entries ...entry) (got, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return false, false
	}
	in.append(entries)
	got = !in.locked
	in.locked = true
	return got, true
}

func (in *inbox) append(entries []entry) {
	for i := range entries {
		in.size += entries[i].size
		in.output += entries[i].output
	}
	in.entries = append(in.entries, entries...)
}

// leave appends entries without taking the vertex lock. unseen tells that the lock is
// free, so no goroutine will look at the entries. ok is false after the end.
func (in *inbox) leave(entries ...entry) (unseen, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return false, false
	}
	in.append(entries)
	return !in.locked, true
}

// grab takes the vertex lock if it is free.
func (in *inbox) grab() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.locked || in.ended {
		return false
	}
	in.locked = true
	return true
}

// take returns all entries to the holder, valid until the next take; none after the
// end.
func (in *inbox) take() []entry {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.entries) == 0 || in.ended {
		return nil
	}
	taken := in.entries
	in.entries, in.spare = in.spare[:0], taken
	if cap(taken) > maxSpare {
		in.spare = nil
	}
	in.size, in.output = 0, 0
	in.changed.Broadcast()
	return taken
}

// yieldIfEmpty releases the vertex lock if the inbox is empty, and reports whether
// it did.
func (in *inbox) yieldIfEmpty() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.entries) > 0 && !in.ended {
		return false
	}
	in.release()
	return true
}

// yield releases the vertex lock and reports whether entries remain.
func (in *inbox) yield() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.release()
	return len(in.entries) > 0
}

func (in *inbox) release() {
	in.locked = false
	in.changed.Broadcast()
}

// room blocks a reader while the inbox is full; it returns false after the end.
func (in *inbox) room() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.size > maxInbox && !in.ended {
		in.changed.Wait()
	}
	return !in.ended
}

// hasRoom reports whether room would return at once.
func (in *inbox) hasRoom() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.size <= maxInbox || in.ended
}

// outputs returns the number of bytes of output in the inbox.
func (in *inbox) outputs() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.output
}

// end waits for the vertex lock, keeps it, and returns the entries that will not be
// processed.
func (in *inbox) end() []entry {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.changed.Broadcast()
	for in.locked {
		in.changed.Wait()
	}
	in.locked = true
	return in.entries
}
