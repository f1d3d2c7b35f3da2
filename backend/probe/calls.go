// What blocked calls of MPI wait for.

package probe

import (
	"sdm/backend/probe/hold"
	"sdm/backend/probe/mpi"
	"sdm/backend/probe/snapshot"
	"sdm/backend/probe/unwind"
)

// blocked is a call of MPI in which a thread is.
type blocked struct {
	frame int    // on the stack, from the innermost
	text  string // what it waits for, in short
	wait  mpi.Wait
	world *mpi.Communicator // MPI_COMM_WORLD
	// sequences is as mpi.Library.Sequences returns it; sequenced tells whether there is one.
	sequences uint64
	sequenced bool
}

// blockedCalls returns the calls of MPI in which the threads of a process are, by thread. Nothing is
// held meanwhile: what is read is on copied stacks, or does not change during a call. With explain,
// texts tell where arguments were found.
func (p *process) blockedCalls(s *snapshot.Process, explain bool) map[int]blocked {
	calls := map[int]blocked{}
	if hold.Machine.PC != unwind.AMD64.PC { // the instructions of other machines are not known
		return calls
	}
	var library *mpi.Library
	for i := range s.Threads {
		t := &s.Threads[i]
		if !mpi.IsIn(s, t) {
			continue
		}
		if library == nil {
			if library = mpi.Open(s, t.Pointer); library == nil {
				break
			}
		}
		if c := mpi.Find(library, &p.images[0].mpi, s, t); c != nil {
			b := blocked{frame: c.Frame, text: c.Short(library), wait: c.Wait(library), world: library.World()}
			if explain {
				b.text += c.Evidence()
			}
			b.sequences, b.sequenced = library.Sequences()
			calls[t.TID] = b
		}
	}
	return calls
}

// withCall adds what a call of MPI waits for to the level of its function. levels are those of frame i
// of a thread, the function itself last.
func (p *process) withCall(t *snapshot.Thread, i int, levels []level) []level {
	if c, ok := p.calls[t.TID]; ok && c.frame == i && len(levels) > 0 {
		levels[len(levels)-1].Call = c.text
	}
	return levels
}
