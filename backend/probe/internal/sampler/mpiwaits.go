// What ranks wait for in calls of MPI.

package sampler

import (
	"strings"

	"sdm/backend/probe/internal/mpi"
	"sdm/protocol/digest"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// addMPI adds what a call of MPI waits for. If that is not known completely, it adds an edge to Unknown. Ranks of other
// jobs are not known, so calls that may wait for them are not: collectives in their communicators, messages from and to
// them, and messages of any source there.
func (w *Waits) addMPI(x *mpi.Wait, world *mpi.Communicator) {
	name := "MPI_" + x.Function
	comm := x.Comm
	if comm == nil && (x.Function == "Finalize" || strings.HasPrefix(x.Function, "Init")) {
		comm = world
	}
	key := ""
	if x.Class == mpi.Together {
		owned := strings.HasPrefix(x.Function, "Win_") || strings.HasPrefix(x.Function, "File_")
		// Without a context, windows with the same members are taken for one.
		if comm == nil || !comm.IsOpen() && (comm.Context != "" || owned) {
			key = w.comm(comm)
		}
		if key != "" {
			w.Calls = append(w.Calls, together(name, key, x))
			return
		}
	}
	own := w.Numbered && x.Target == w.Number // then it waits for others
	if x.Class == mpi.OneSided && x.Target >= 0 && !own {
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
func (w *Waits) came(all []mpi.Unexpected) {
	for _, u := range all {
		e := wait.Edge{Comm: w.comm(u.Comm), Tag: u.Tag}
		w.Unexpected = append(w.Unexpected, wait.Message{Edge: e, Peer: u.Peer})
	}
}

// collective adds a call that waits for a request of a collective.
func (w *Waits) collective(function string, comm *mpi.Communicator) {
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

func (w *Waits) message(function string, x *mpi.Wait, m *mpi.Message) wait.Message {
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
func (w *Waits) comm(c *mpi.Communicator) string {
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

// unknownMessage is the wait of a function of which it is not known for whom it waits.
func unknownMessage(function string) wait.Message {
	return wait.Message{Edge: wait.Edge{Function: function, Tag: wait.Unknown}, Peer: wait.Unknown}
}
