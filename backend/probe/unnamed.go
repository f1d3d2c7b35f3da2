// Calls of libraries for communication that cannot be named.

package probe

import (
	"path/filepath"
	"strings"

	"sdm/backend"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// inside is a call of a library for communication that a thread is in and of which it is not known for whom it waits.
type inside struct {
	frame    int    // on the stack, from the innermost: the first function of the library
	function string // "shmem_barrier_all", "MPI_Barrier"; or wait.Unnamed
}

// insideOf returns the call of a library for communication that a thread is in. It is for threads that are in no call of
// MPI or torch that is known: the function of MPI may have no frame any more, and OpenSHMEM, UCX, libfabric and
// NCCL are not asked. In a library that the program has called for a message a thread spins, so it never computes.
func (p *process) insideOf(t *snapshot.Thread) (in inside, ok bool) {
	for i := len(t.Stack.Frames) - 1; i >= 0; i-- {
		f := t.Stack.Frames[i]
		k := p.module(f.Lookup())
		if k < 0 || f.Signal || p.modules[k].File == p.program || !backend.Communicates(filepath.Base(p.modules[k].Path)) {
			continue
		}
		name := p.modules[k].Name()
		symbol, _, _ := (placed{p, k}).Function(f.Lookup())
		in = inside{frame: i, function: wait.Unnamed + name}
		switch plain := strings.TrimPrefix(symbol, "P"); {
		case strings.HasPrefix(plain, "MPI_"):
			in.function = plain
		case symbol != "" && !mpi.IsLibrary(name):
			in.function = symbol
		}
		return in, true
	}
	return inside{}, false
}

// outsideOf returns the frames of a thread, outermost first, without those of the call that it is in.
func (p *process) outsideOf(frames []stack.Frame, t *snapshot.Thread, in inside) []stack.Frame {
	places, library := p.at(t.Stack.Frames[in.frame].Lookup())
	first := places[len(places)-1]
	for i, f := range frames {
		if f.Func == first.Function && (f.From == library || f.From == "" && f.Line == first.Line) {
			return frames[:i]
		}
	}
	return frames
}
