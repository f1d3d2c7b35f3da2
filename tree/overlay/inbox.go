// What waits for the vertex, and who may touch it.

package overlay

import (
	"sync"

	"sdm/protocol/wire"
	"sdm/tree"
)

// maxInbox is how many bytes readers may have brought that nobody has looked at.
const maxInbox = 1 << 20

// maxSpare is the largest list of entries that is kept for the next ones.
const maxSpare = 1024

// entry is one thing that waits for the holder of the baton: a packet (from), an
// input, or something to do.
type entry struct {
	from *neighbour
	msg  wire.Message
	in   tree.Input
	do   func()
	link Link // of do; closed when do is never called

	size   int // bytes that readers have brought
	output int // bytes that ranks have written
}

// inbox is what waits for the vertex, and the baton that says who may touch it.
type inbox struct {
	mu      sync.Mutex
	changed sync.Cond // entries were taken, the baton is free, or all is over
	entries []entry
	spare   []entry
	size    int // sums over entries
	output  int
	held    bool
	ended   bool
}

// newInbox gives an inbox whose baton the caller holds.
func newInbox() *inbox {
	in := &inbox{held: true}
	in.changed.L = &in.mu
	return in
}

// add appends entries and gives the baton to the caller if it is free; otherwise
// its holder will see them. ok is false after the end.
func (in *inbox) add(entries ...entry) (got, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return false, false
	}
	for i := range entries {
		in.size += entries[i].size
		in.output += entries[i].output
	}
	in.entries = append(in.entries, entries...)
	got = !in.held
	in.held = true
	return got, true
}

// leave appends an entry without taking the baton, and tells whether nobody has it
// who would see it.
func (in *inbox) leave(e entry) (unseen bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return false
	}
	in.entries = append(in.entries, e)
	return !in.held
}

// grab takes the baton if it is free.
func (in *inbox) grab() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.held || in.ended {
		return false
	}
	in.held = true
	return true
}

// take gives the holder all that waits, until the next take; nothing after the
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

// yieldIfEmpty frees the baton unless something waits.
func (in *inbox) yieldIfEmpty() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.entries) > 0 && !in.ended {
		return false
	}
	in.release()
	return true
}

// yield frees the baton and tells whether something waits.
func (in *inbox) yield() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.release()
	return len(in.entries) > 0
}

func (in *inbox) release() {
	in.held = false
	in.changed.Broadcast()
}

// room waits until readers may bring more; it is false after the end.
func (in *inbox) room() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.size > maxInbox && !in.ended {
		in.changed.Wait()
	}
	return !in.ended
}

// hasRoom tells whether room would wait.
func (in *inbox) hasRoom() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.size <= maxInbox || in.ended
}

// outputs is how many bytes of ranks' output wait.
func (in *inbox) outputs() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.output
}

// end waits for the baton, keeps it, and gives what nobody will look at.
func (in *inbox) end() []entry {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.changed.Broadcast()
	for in.held {
		in.changed.Wait()
	}
	in.held = true
	return in.entries
}
