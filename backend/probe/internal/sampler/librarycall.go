// Calls of libraries for communication.

package sampler

import (
	"path/filepath"
	"slices"
	"strings"

	"sdm/backend"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// libraryCall is the call of a library for communication that a thread is in. At most one of mpi, torch and unnamed is
// not nil; a thread in no call has none.
type libraryCall struct {
	mpi     *blocked
	torch   *torchCall
	unnamed *inside
	waits   bool // for something: not all its requests are complete
}

func (c *libraryCall) isNone() bool { return c.mpi == nil && c.torch == nil && c.unnamed == nil }

// libraryCalls returns the calls that the threads of shot are in.
func (m *team) libraryCalls() []libraryCall {
	all := make([]libraryCall, len(m.shot.Threads))
	for i := range all {
		t := &m.shot.Threads[i]
		call, inMPI := m.calls[t.TID]
		torch, inTorch := m.torch[t.TID]
		switch {
		case inMPI && !call.wait.Polls:
			all[i].mpi = &call
		case inTorch:
			all[i].torch = &torch
		case !inMPI && t.TID == m.pid:
			all[i].unnamed = m.insideOf(t)
		}
	}
	return all
}

// framesOutside returns the innermost functions of the thread of shot with an index that are not of the call that it is
// in. A call that waits for nothing is not left out.
func (m *team) framesOutside(i int, c *libraryCall) string {
	frames, function := m.frames[i], ""
	switch {
	case !c.waits:
		frames, _ = m.ofUser(i)
	case c.mpi != nil:
		function = c.mpi.wait.Function
	case c.torch != nil:
		frames = outsideTorch(frames, c.torch.Function)
	default:
		frames = m.outsideOf(frames, &m.shot.Threads[i], c.unnamed)
	}
	return framesText(frames, function, m.signal(i))
}

// onlyCaller returns the index of the only thread in a call if it is not the first one of the process, and waits for
// something in MPI; -1: there is none.
func (m *team) onlyCaller(calls []libraryCall) int {
	inCall := func(c libraryCall) bool { return !c.isNone() }
	i := slices.IndexFunc(calls, inCall)
	switch {
	case i < 0, slices.ContainsFunc(calls[i+1:], inCall):
		return -1
	case calls[i].mpi == nil, !calls[i].waits, m.shot.Threads[i].TID == m.pid:
		return -1
	}
	return i
}

// inside is a call of a library for communication that a thread is in and of which it is not known for whom it waits.
type inside struct {
	frame    int    // on the stack, from the innermost: the first function of the library
	function string // "shmem_barrier_all", "MPI_Barrier"; or wait.Unnamed
}

// insideOf returns the call of a library for communication that a thread is in; nil: none. It is for threads that are
// in no call of MPI or torch that is known: the function of MPI may have no frame any more, and OpenSHMEM, UCX,
// libfabric and NCCL are not asked. In a library that the program has called for a message a thread spins, so it never
// computes.
func (p *process) insideOf(t *snapshot.Thread) *inside {
	for i := len(t.Stack.Frames) - 1; i >= 0; i-- {
		f := t.Stack.Frames[i]
		k := p.module(f.Lookup())
		if k < 0 || f.Signal || p.modules[k].File == p.program || !backend.Communicates(filepath.Base(p.modules[k].Path)) {
			continue
		}
		name := p.modules[k].Name()
		symbol, _, _ := (placed{p, k}).Function(f.Lookup())
		in := &inside{frame: i, function: wait.Unnamed + name}
		switch plain := strings.TrimPrefix(symbol, "P"); {
		case strings.HasPrefix(plain, "MPI_"):
			in.function = plain
		case symbol != "" && !mpi.IsLibrary(name):
			in.function = symbol
		}
		return in
	}
	return nil
}

// outsideOf returns the frames of a thread, outermost first, up to the call that it is in.
func (p *process) outsideOf(frames []stack.Frame, t *snapshot.Thread, in *inside) []stack.Frame {
	places, library := p.at(t.Stack.Frames[in.frame].Lookup())
	first := places[len(places)-1]
	for i, f := range frames {
		if f.Func == first.Function && (f.From == library || f.From == "" && f.Line == first.Line) {
			return frames[:i]
		}
	}
	return frames
}
