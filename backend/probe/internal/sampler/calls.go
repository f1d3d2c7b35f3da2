// What blocked calls of MPI wait for.

package sampler

import (
	"slices"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
)

// blocked is the call of MPI that a thread is in.
type blocked struct {
	frame int    // on the stack, from the innermost
	text  string // mpi.Call.Short
	wait  mpi.Wait
	// unexpected are messages that have come in place of those for which the call waits.
	unexpected []mpi.Unexpected
	world      *mpi.Communicator // MPI_COMM_WORLD
	// sequences and sequenced are the results of mpi.Library.Sequences.
	sequences uint64
	sequenced bool
}

// blockedCalls returns the calls of MPI that the threads of a process are in, by thread ID. The process
// runs while they are determined: what is read is on copied stacks, or does not change during a call.
func (r *reading) blockedCalls() map[int]blocked {
	calls := map[int]blocked{}
	if hold.Machine.PC != unwind.AMD64.PC { // the instructions of other machines are not known
		return calls
	}
	var library *mpi.Library
	s := r.shot
	defer func() {
		library = r.numbered(s, library)
		r.counted(library)
	}()
	for i := range s.Threads {
		t := &s.Threads[i]
		if !mpi.IsIn(s, t) {
			continue
		}
		if library == nil {
			if library = mpi.Open(s, &r.images[0].mpi, t.Pointer); library == nil {
				break
			}
		}
		if c := mpi.Find(library, t); c != nil {
			b := blocked{frame: c.Frame, text: c.Short(library), wait: c.Wait(library), world: library.World()}
			b.unexpected = library.Unexpected(c)
			if r.options.Explain {
				b.text += c.Evidence()
			}
			b.sequences, b.sequenced = library.Sequences()
			calls[t.TID] = b
		}
	}
	return calls
}

// number is the rank of a process in its MPI_COMM_WORLD.
type number struct {
	value        int
	known, asked bool
	version      string // of the library; "": not known
}

// numbered asks the library of MPI for the number of the process, until it knows. A process that has not called
// MPI_Init yet is asked again when it has been in a call of MPI. library is the one of the process; nil: not opened.
// It returns the library if that is open.
func (r *reading) numbered(s *snapshot.Process, library *mpi.Library) *mpi.Library {
	p := r.process
	if p.number.known && !r.options.Progress || !p.number.known && p.number.asked && library == nil ||
		len(s.Threads) == 0 || len(p.images) == 0 {
		return library
	}
	p.number.asked = true
	if library == nil {
		if library = mpi.Open(s, &p.images[0].mpi, s.Threads[0].Pointer); library == nil {
			return nil
		}
	}
	if p.number.known {
		return library
	}
	if p.number.value, p.number.known = library.Number(); p.number.known {
		p.number.version = library.Version()
	}
	return library
}

// maxComms bounds the communicators of a process in which messages are counted.
const maxComms = 64

// counted sets what MPI counts of the messages of a process: in MPI_COMM_WORLD and in the communicators of all calls in
// which it has been seen. It is seldom seen in a call if it sleeps or waits for a device between short ones.
func (r *reading) counted(library *mpi.Library) {
	if library == nil || !r.options.Progress || !r.number.known {
		return
	}
	library.World()
	for _, handle := range library.Handles() {
		if len(r.comms) < maxComms && !slices.Contains(r.comms, handle) {
			r.comms = append(r.comms, handle)
		}
	}
	if sequences, ok := library.SequencesOf(r.comms); ok {
		r.messages = sequences
	} else if library.Family == mpi.MPICH {
		r.messages = r.arrivals()
	}
}

// withCall adds what a call of MPI waits for to the level of its function. levels are of frame i of
// a thread, the function that contains the inlined ones last.
func (r *reading) withCall(t *snapshot.Thread, i int, levels []level) []level {
	if c, ok := r.calls[t.TID]; ok && c.frame == i && len(levels) > 0 {
		levels[len(levels)-1].Call = c.text
	}
	return levels
}
