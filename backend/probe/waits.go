// What ranks wait for, as a graph.

package probe

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/mpi"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/digest"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// waits is what a process waits for.
type waits struct {
	wait.Rank
	// stamp is a hash that changes if the process makes progress: if it makes another call of MPI, or
	// if registers or stacks of the functions that made the call change. 0: not known.
	stamp uint64
	// arrivals is a hash that changes if a message reaches the process, or another process that shares
	// memory with it. 0: not known.
	arrivals uint64
	// others is a hash that changes if a thread of the program runs that is not in the call and not the first one. It
	// may send what other ranks wait for. 0: there is none, or none is in a call.
	others uint64
	// children is a hash that changes if a child of the process makes progress. 0: there is none, or not all were read.
	children uint64
	numbered bool         // the library numbers its messages, and the numbers are in stamp
	size     int          // of MPI_COMM_WORLD
	inTorch  bool         // a thread is in a call of torch.distributed
	runs     *runs        // of a process in which a thread is in a call of torch.distributed
	polling  map[int]bool // threads that poll its connections
	inCall   bool         // a thread is in a call of MPI or torch.distributed
	parted   bool         // its threads were not held at the same time, since there are too many
	// peer is the process that can end the wait of the first thread, and object what it has; 0: none is known.
	peer   int
	object string
}

// waitsOf returns what a process waits for. threads are its stacks as they are shown, outermost frame
// first.
func (p *process) waitsOf(shot *snapshot.Process, held *hold.Process, threads [][]stack.Frame) *waits {
	w := &waits{}
	w.Number, w.Numbered = p.number.value, p.number.known
	if w.Unheld = p.tracer.TID != 0 || held.Late(); p.tracer.Passing {
		w.Doing = wait.Doing{State: wait.Unread, Detail: "it is " + p.tracer.Why()}
		return w
	}
	w.Doing = wait.Doing{State: p.state}
	hash := digest.New()
	calls, waitsInCall := 0, false
	caller := -1     // index of a thread other than the first one that waits in a call of MPI
	var others []int // indices of threads other than the first one that are in no call
	m := newTeam(p, shot, held, threads)
	for i := range shot.Threads {
		t := &shot.Threads[i]
		c, inMPI := p.calls[t.TID]
		inMPI = inMPI && !c.wait.Polls
		if inMPI {
			calls++
			if c.world.Err == nil {
				w.size = len(c.world.World)
			}
			if w.numbered = c.sequenced; c.sequenced {
				addNumber(hash, c.sequences)
			}
			w.add(&c.wait, c.world)
			w.came(c.unexpected)
			w.settle()
			if t.TID != p.pid && len(w.Calls)+len(w.Waits) > 0 {
				caller = i
			}
		}
		torch, inTorch := p.torch[t.TID]
		if inTorch && !inMPI {
			calls++
			w.addTorch(&torch)
			hash.Add(torch.progress)
		}
		in, unnamed := inside{}, false
		if _, known := p.calls[t.TID]; t.TID == p.pid && !known && !inTorch {
			if in, unnamed = p.insideOf(t); unnamed {
				calls++
				w.Waits = append(w.Waits, wait.Message{Edge: wait.Edge{Function: in.function, Tag: wait.Unknown}, Peer: wait.Unknown})
				w.settle()
			}
		}
		if t.TID == p.pid { // MPI is left out of the frames unless its call waits for nothing, since its requests are complete
			waits := inMPI && len(w.Calls)+len(w.Waits) > 0
			switch waitsInCall = waits || inTorch; {
			case waits:
				w.Doing.Frames = framesText(threads[i], c.wait.Function, m.signal(i))
			case inTorch && !inMPI:
				w.Doing.Frames = framesText(outsideTorch(threads[i], torch.Function), "", m.signal(i))
			case unnamed:
				waitsInCall = true
				w.Doing.Frames = framesText(p.outsideOf(threads[i], t, in), "", m.signal(i))
			default:
				w.Doing.Frames = m.framesText(i)
			}
		}
		switch {
		case inMPI:
			stamp(hash, shot, m.held[t.TID], t, c.frame, true, nil)
		case unnamed:
			stamp(hash, shot, m.held[t.TID], t, in.frame, true, nil)
		case t.TID == p.pid:
			m.stamp(hash, i)
		case !inTorch:
			others = append(others, i)
		}
	}
	for _, i := range m.describe(&w.Doing, waitsInCall) {
		m.stamp(hash, i)
	}
	if caller >= 0 && calls == 1 && w.Doing.State == wait.NotKnown { // the call of the rank is not that of the first thread
		c := p.calls[shot.Threads[caller].TID]
		w.Doing.Frames = framesText(threads[caller], c.wait.Function, m.signal(caller))
		w.Doing.Does, w.Doing.Detail, w.Doing.For, w.Doing.Lock, w.Doing.Left = "", "", 0, false, 0
	}
	if w.inTorch {
		w.runs, w.polling = p.runs, p.polling(shot)
	}
	if w.inCall = calls > 0; w.inCall {
		w.others = m.stampOf(others)
	}
	w.parted = held.IsParted()
	w.peer, w.object = m.peer()
	if calls > 1 {
		w.Doing.Calls = calls
	}
	if calls == 0 && p.wasNotRead(shot) {
		w.Doing = wait.Doing{State: wait.Unread}
	}
	if !w.Unheld { // else a part of the registers is missing
		w.stamp = hash.Sum()
	}
	if calls > 0 && !w.numbered {
		w.arrivals = p.arrivals()
	}
	return w
}

// wasNotRead reports whether a process runs and some thread of it could not be stopped. Such a thread may be
// in any call.
func (p *process) wasNotRead(shot *snapshot.Process) bool {
	return (p.state == wait.Running || p.state == wait.Sleeping || p.state == wait.NotKnown) &&
		slices.ContainsFunc(shot.Threads, func(t snapshot.Thread) bool { return t.Why != "" })
}

// maxShared bounds the mappings of shared memory that are looked at.
const maxShared = 4096

// arrivals returns a hash of the first page of each mapping of shared memory, which has the ends of the
// message queues of UCX. 0: there is no such mapping.
func (p *process) arrivals() uint64 {
	hash, n := digest.New(), 0
	page := make([]byte, pageSize)
	for i := range p.maps {
		m := &p.maps[i]
		shared := strings.HasPrefix(m.Path, "/SYSV") || strings.HasPrefix(m.Path, "/dev/shm/")
		if shared && m.Writable && n < maxShared && hold.Memory(p.pid).Read(m.Start, page) {
			hash.Add(page)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return hash.Sum()
}

// settle removes the states Running and Sleeping, which say nothing about a rank in a call of MPI: libraries
// spin or sleep while they wait.
func (w *waits) settle() {
	if w.Doing.State == wait.Running || w.Doing.State == wait.Sleeping {
		w.Doing.State = wait.NotKnown
	}
}

// add adds what a call of MPI waits for. If that is not known completely, it adds an edge to Unknown. Ranks of other
// jobs are not known, so calls that may wait for them are not: collectives in their communicators, messages from and to
// them, and messages of any source there.
func (w *waits) add(x *mpi.Wait, world *mpi.Communicator) {
	name := "MPI_" + x.Function
	comm := x.Comm
	if comm == nil && (x.Function == "Finalize" || strings.HasPrefix(x.Function, "Init")) {
		comm = world
	}
	key := ""
	if x.Class == mpi.Together {
		owned := strings.HasPrefix(x.Function, "Win_") || strings.HasPrefix(x.Function, "File_")
		if comm == nil || !comm.IsOpen() && (comm.Context != "" || owned) { // without a context, windows with the same members are taken for one
			key = w.comm(comm)
		}
		if key != "" {
			w.Calls = append(w.Calls, together(name, key, x))
			return
		}
	}
	if own := w.Numbered && x.Target == w.Number; x.Class == mpi.OneSided && x.Target >= 0 && !own { // for its own, it waits for others
		e := wait.Edge{Function: name, Need: wait.Target, Tag: wait.Unknown}
		w.Waits = append(w.Waits, wait.Message{Edge: e, Peer: x.Target})
		return
	}
	unknown := false
	for _, m := range x.Messages {
		switch {
		case m.Done || m.Peer == mpi.NoPeer:
			continue
		case m.Kind == "collective" && !x.Any && m.Comm != nil && m.Comm.Context != "" && !m.Comm.IsOpen():
			w.collective(name, m.Comm)
			continue
		case m.Kind != "send" && m.Kind != "receive", m.Peer == mpi.Unknown:
			unknown = true
			continue
		}
		w.Waits = append(w.Waits, w.message(name, x, &m))
		unknown = unknown || m.Peer == mpi.AnySource && m.Comm != nil && m.Comm.IsOpen() // the message may come from there
	}
	switch {
	case unknown, x.Class != mpi.Matching && x.Class != mpi.Completion, !x.All:
		e := wait.Edge{Function: name, Tag: wait.Unknown, Need: needOf(x)}
		if comm != nil && comm.IsOpen() {
			e.Comm = w.comm(comm)
		}
		w.Waits = append(w.Waits, wait.Message{Edge: e, Peer: wait.Unknown})
	}
}

// came adds messages that have come in place of others.
func (w *waits) came(all []mpi.Unexpected) {
	for _, u := range all {
		e := wait.Edge{Comm: w.comm(u.Comm), Tag: u.Tag}
		w.Unexpected = append(w.Unexpected, wait.Message{Edge: e, Peer: u.Peer})
	}
}

// collective adds a call that waits for a request of a collective.
func (w *waits) collective(function string, comm *mpi.Communicator) {
	c := wait.Call{Function: function, Comm: w.comm(comm), Root: wait.No, Bytes: wait.No}
	w.Calls = append(w.Calls, c)
}

// together returns a call that all members of a communicator must make.
func together(name, key string, x *mpi.Wait) wait.Call {
	c := wait.Call{Function: name, Comm: key, Op: x.Op, Root: wait.No, Bytes: wait.No}
	if x.Root >= 0 {
		c.Root = x.Root
	}
	if x.Bytes >= 0 {
		c.Bytes = int(x.Bytes)
	}
	return c
}

// needOf tells whether a call needs all its messages.
func needOf(x *mpi.Wait) wait.Need {
	if x.Any {
		return wait.One
	}
	return wait.All
}

func (w *waits) message(function string, x *mpi.Wait, m *mpi.Message) wait.Message {
	e := wait.Edge{Function: function, Send: m.Send, Need: needOf(x), Tag: m.Tag}
	if m.Perhaps {
		e.Need = wait.Perhaps
	}
	if m.Comm != nil && m.Comm.Context != "" {
		e.Comm = w.comm(m.Comm)
	}
	switch m.Tag {
	case mpi.AnyTag:
		e.Tag = wait.Any
	case mpi.Unknown:
		e.Tag = wait.Unknown
	}
	peer := m.Peer
	if peer == mpi.AnySource {
		peer = wait.Any
	}
	return wait.Message{Edge: e, Peer: peer}
}

// comm adds a communicator and returns its key; "": it is not known.
func (w *waits) comm(c *mpi.Communicator) string {
	if c == nil || c.Err != nil {
		return ""
	}
	key := c.Context + "." + digest.Text(digest.OfText(c.Key()))
	first, second := c.Groups()
	w.Comms = append(w.Comms, wait.Comm{Key: key, Name: c.Name, Members: setOf(first), Remote: setOf(second)})
	return key
}

// setOf returns the set of world ranks. Numbers below 0, which stand for members of other jobs, are left out.
func setOf(world []int) rank.Set {
	var ids []rank.ID
	for _, r := range world {
		if r >= 0 && r <= int(rank.MaxID) {
			ids = append(ids, rank.ID(r))
		}
	}
	return rank.Of(ids...)
}

// framesText returns the innermost functions of a stack, one in each line. If function is not "", it begins with the
// caller of this function of MPI, whose name is without MPI_. signal names the signals of handlers.
func framesText(frames []stack.Frame, function, signal string) string {
	end := len(frames)
	if function != "" {
		is := func(f stack.Frame) bool { return strings.TrimPrefix(f.Func, "P") == "MPI_"+function }
		if !slices.ContainsFunc(frames, is) { // the function has ended in a jump to another one, so that it has no frame
			is = ofMPI
		}
		if i := slices.IndexFunc(frames, is); i >= 0 {
			for i > 1 && ofMPI(frames[i-1]) { // the library for Fortran has called it
				i--
			}
			end = i
		}
		named := func(f stack.Frame) bool { return f.Func != unnamed }
		if slices.ContainsFunc(frames[:end], named) {
			for end > 0 && !named(frames[end-1]) { // of a library without symbols, such as that of mpi4py
				end--
			}
		}
	}
	var names []string
	most := wait.MaxFrames
	for i := end - 1; i >= 0 && len(names) < most; i-- {
		f := frames[i]
		text := f.Func
		switch {
		case text == handlerCalled:
			text, most = wait.HandlerFrame+" "+signal, min(len(names), wait.MaxFrames)+1+wait.MaxFrames
		case kernelcall.IsC(" from " + filepath.Base(f.From)): // also with debug information, since verdicts know its functions by that
			text += " from " + filepath.Base(f.From)
		case f.File != "":
			text += " " + filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		case f.From != "":
			text += " from " + filepath.Base(f.From)
		}
		names = append(names, text)
	}
	return strings.Join(names, "\n")
}

// ofMPI reports whether a function is in a library of MPI.
func ofMPI(f stack.Frame) bool { return mpi.IsLibrary(filepath.Base(f.From)) }

// stateHeld returns the state of a process that was held, by the one that was read before. Another sampler that held it
// at that time, or had just let it go, makes it seem traced or running.
func (p *process) stateHeld(held *hold.Process) wait.State {
	i := slices.IndexFunc(held.Threads, func(t hold.Thread) bool { return t.TID == p.pid && t.Why == "" })
	if i < 0 || p.state != wait.Traced && p.state != wait.Running {
		return p.state
	}
	switch t := &held.Threads[i]; {
	case t.StoppedBy != 0:
		return wait.Stopped
	case t.Call.Number != kernelcall.None:
		return wait.Sleeping
	}
	return wait.Running
}

// stateNow returns the state of the process by that of its first thread, or of another one if that has ended.
func (p *process) stateNow() wait.State {
	switch p.files.Letter() {
	case 'R':
		return wait.Running
	case 'S', 'I':
		return wait.Sleeping
	case 'D':
		return wait.Disk
	case 'T':
		return wait.Stopped
	case 't':
		return wait.Traced
	case 'Z', 'X', 'x', 0:
		return wait.Dead
	}
	return wait.NotKnown
}
