// What a blocked call waits for, as plain data.

package mpi

import (
	"slices"
	"strconv"
)

// Class is the kind of event that a call waits for.
type Class uint8

const (
	// Other: what the call waits for is not known, or it waits for no other rank.
	Other Class = iota
	// Matching waits for the other halves of messages (Recv, Send, Probe, Sendrecv).
	Matching
	// Completion waits for requests (Wait, Waitall).
	Completion
	// Together waits for the other members of a communicator, a window or a file.
	Together
	// OneSided waits for the target of a window (Win_lock, Win_unlock, Win_flush, Put), or for ranks of
	// a group that is not known (Win_start, Win_complete, Win_wait).
	OneSided
)

// Unknown stands for a peer, root or tag that is not known.
const Unknown = -104

// None stands for a root or a number of bytes that a call does not have.
const None = -105

// Wait is what a blocked call waits for. It is plain data, without reference to the library, and has the same
// meaning for all libraries.
type Wait struct {
	Function string // without MPI_, as "Recv"
	Class    Class
	// Comm is the communicator of the call, or the members of its window or file; nil: there is
	// none, or it is not known. Messages have communicators of their own.
	Comm *Communicator
	// Messages are what Matching and Completion wait for.
	Messages []Message
	// All is true if Messages are all that the call waits for; without it, some are not known.
	All bool
	// Any is true if one of the messages ends the call (Waitany, Waitsome, Testany, Testsome).
	Any bool
	// Polls is true if the call returns without waiting, so that programs call it repeatedly (Test, Iprobe).
	Polls bool

	// What must be equal, or fit, in all members of a call of class Together.

	// Root is a world rank, None or Unknown. In an intercommunicator it is the MPI_ROOT or
	// MPI_PROC_NULL of the library, and so Unknown.
	Root int
	// Op is the name of the operation ("MPI_SUM"); "": none, or not known.
	Op string
	// Bytes is how much each member gives to, or takes from, each other member: equal in all; None: it
	// need not be equal; Unknown.
	Bytes int64
	// Target is the world rank whose window a call of class OneSided accesses; None or Unknown.
	Target int
}

// Message is one half of a message: a blocked call's own, or a request's.
type Message struct {
	Send bool // else it receives, or probes
	// Peer is a world rank, AnySource, NoPeer or Unknown.
	Peer int
	// Tag is a tag, AnyTag or Unknown.
	Tag  int
	Comm *Communicator // nil: not known
	Done bool          // it is complete already
	// Perhaps: of one half of Sendrecv, it is not known whether it is complete.
	Perhaps bool
	// Kind is "send" or "receive", or "collective" of a request that waits for the other members of Comm,
	// which has no peer and tag; "": not known.
	Kind string
}

// some are the functions that return when one of their requests is complete.
var some = map[string]bool{"Waitany": true, "Waitsome": true, "Testany": true, "Testsome": true}

// polls are the functions that return without waiting.
var polls = map[string]bool{
	"Test": true, "Testall": true, "Testany": true, "Testsome": true, "Iprobe": true, "Improbe": true, "Win_test": true,
	"Request_get_status": true,
}

// Wait returns what a call waits for.
func (c *Call) Wait(l *Library) Wait {
	w := Wait{Function: c.Function, Comm: c.Comm, Any: some[c.Function], Polls: polls[c.Function], Root: None, Bytes: None, Target: None}
	switch {
	case c.arg(Requests) != nil:
		w.Class = Completion
		w.All = c.Requests != nil
		for _, q := range c.Requests {
			w.Messages = append(w.Messages, q.message())
			w.All = w.All && (q.Why == "" || q.Done)
		}
	case c.arg(Tag) != nil:
		w.Class, w.Messages = Matching, c.messages()
		w.All = true
		for _, m := range w.Messages {
			w.All = w.All && m.Peer != Unknown && m.Tag != Unknown && m.Comm != nil
		}
	case c.arg(Window) != nil && c.Function != "Win_fence":
		w.Class, w.Target = OneSided, c.target()
	case individual[c.Function]:
	case c.arg(Comm) != nil, c.arg(Window) != nil, c.arg(File) != nil, c.arg(CommAt) != nil, c.arg(WindowAt) != nil, c.arg(FileAt) != nil, together[c.Function]:
		w.Class = Together
		if c.Function == "Comm_create_group" {
			w.Comm = l.ofGroup(c)
		}
		w.signature(l, c)
	}
	return w
}

// ofGroup returns the members of the group of a call of MPI_Comm_create_group, which is the call of these members
// only, as a communicator; nil: they are not known.
func (l *Library) ofGroup(c *Call) *Communicator {
	group, tag := c.Arg("group"), c.Arg("tag")
	if c.Comm == nil || c.Comm.Context == "" || !group.Known || !tag.Known {
		return nil
	}
	world, err := l.inWorld(l.Family.handle(group.Value))
	if err != nil || !slices.Contains(world, c.Comm.World[c.Comm.Rank]) {
		return nil
	}
	for _, r := range world {
		if r < 0 || !slices.Contains(c.Comm.World, r) {
			return nil
		}
	}
	return &Communicator{World: world, Context: c.Comm.Context + "/" + strconv.FormatInt(tag.Value, 10)}
}

// individual are the functions of files that wait for no other member.
var individual = map[string]bool{
	"File_write": true, "File_read": true, "File_write_at": true, "File_read_at": true, "File_write_shared": true, "File_read_shared": true,
}

// together are the functions that all ranks call and that have no communicator.
var together = map[string]bool{"Init": true, "Init_thread": true, "Finalize": true, "Session_finalize": true}

// messages returns the halves of messages of a call; Sendrecv has two.
func (c *Call) messages() (all []Message) {
	dest, source := c.Arg("dest"), c.Arg("source")
	sendrecv := dest != nil && source != nil && c.worldPeer(dest) != NoPeer && c.worldPeer(source) != NoPeer
	add := func(peer, tag string, send bool, state half) {
		a := c.Arg(peer)
		if a == nil {
			return
		}
		m := Message{Send: send, Peer: c.worldPeer(a), Tag: Unknown, Comm: c.Comm, Kind: "receive", Done: state == complete}
		if send {
			m.Kind = "send"
		}
		m.Perhaps = sendrecv && state == perhaps
		t := c.Arg(tag)
		if t == nil {
			t = c.arg(Tag)
		}
		if t.Known {
			m.Tag = int(t.Value)
		}
		all = append(all, m)
	}
	add("dest", "sendtag", true, c.send)
	add("source", "recvtag", false, c.receive)
	return all
}

// worldPeer returns a peer as a world rank, AnySource, NoPeer or Unknown.
func (c *Call) worldPeer(a *Argument) int {
	switch {
	case !a.Known:
		return Unknown
	case a.Value == AnySource || a.Value == NoPeer:
		return int(a.Value)
	case c.Comm == nil:
		return Unknown
	}
	if r, ok := c.Comm.worldRank(int(a.Value)); ok {
		return r
	}
	return Unknown
}

// target returns the world rank whose window a call accesses.
func (c *Call) target() int {
	a := c.arg(Peer)
	if a == nil {
		return None
	}
	return c.worldPeer(a)
}

// message returns what a request waits for.
func (q Request) message() Message {
	m := Message{Send: q.Kind == "send", Peer: Unknown, Tag: Unknown, Done: q.Done, Kind: q.Kind}
	if q.Why != "" || q.Comm == nil {
		return m
	}
	if m.Comm = q.Comm; q.Kind == "collective" {
		return m
	}
	m.Tag, m.Peer = q.Tag, q.Peer
	if r, ok := q.Comm.worldRank(q.Peer); ok {
		m.Peer = r
	} else if q.Peer != AnySource && q.Peer != NoPeer {
		m.Peer = Unknown
	}
	return m
}

// signature sets the fields that must fit in all members: Root, Op and Bytes.
func (w *Wait) signature(l *Library, c *Call) {
	if a := c.arg(Root); a != nil {
		w.Root = Unknown
		if a.Known && c.Comm != nil && c.Comm.Remote == nil {
			w.Root = c.worldPeer(a)
		}
	}
	if a := c.arg(Op); a != nil && a.Known {
		w.Op = l.Operation(l.Family.handle(a.Value))
	}
	count, kind := "count", "type"
	switch c.Function {
	case "Bcast", "Reduce", "Allreduce", "Scan", "Exscan", "Reduce_scatter_block":
	case "Allgather", "Alltoall": // the send buffer may be MPI_IN_PLACE
		count, kind = "recvcount", "recvtype"
	case "Gather", "Scatter":
		// In the root, one buffer may be MPI_IN_PLACE; in other ranks, the other buffer has no meaning.
		if w.Bytes = Unknown; w.Root == Unknown || c.Comm == nil {
			return
		}
		me, _ := c.Comm.worldRank(c.Comm.Rank)
		count, kind = "sendcount", "sendtype"
		if (me == w.Root) == (c.Function == "Gather") {
			count, kind = "recvcount", "recvtype"
		}
	default:
		return
	}
	w.Bytes = l.bytes(c.Arg(count), c.Arg(kind))
}

// bytes returns count × size of a datatype.
func (l *Library) bytes(count, kind *Argument) int64 {
	if !count.Known || !kind.Known {
		return Unknown
	}
	t := l.Type(l.Family.handle(kind.Value))
	if t.Err != nil || count.Value < 0 {
		return Unknown
	}
	return count.Value * int64(t.Bytes)
}
