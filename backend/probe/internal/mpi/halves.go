// Which halves of MPI_Sendrecv are complete.

package mpi

import (
	"encoding/binary"
	"strings"

	"sdm/backend/probe/internal/amd64"
)

// half is what is known about one half of a call.
type half uint8

const (
	perhaps half = iota // not known
	pending
	complete
)

// halvesOf finds out which halves of a call of Sendrecv are complete, if both have a peer.
func (l *Library) halvesOf(c *Call) (send, receive half) {
	dest, source := c.Arg("dest"), c.Arg("source")
	if dest == nil || source == nil || !dest.Known || !source.Known || dest.Value == NoPeer || source.Value == NoPeer {
		return perhaps, perhaps
	}
	if l.Family == OpenMPI {
		return openMPI{l}.halvesOf(c)
	}
	return l.halvesOfMPICH(c)
}

// halvesOf tells the halves by the function that MPI_Sendrecv has called: it makes a request for the receive, then
// sends with a blocking function of the layer for messages, and at last waits for the request
// (ompi/mpi/c/sendrecv.c).
func (l openMPI) halvesOf(c *Call) (send, receive half) {
	for i := c.Frame - 1; i >= 0; i-- {
		switch name, _ := c.finder.Function(i); {
		case name == "ompi_request_default_wait":
			return complete, pending
		case strings.HasPrefix(name, "mca_pml_") && strings.HasSuffix(name, "_send"):
			return pending, l.receiveOf(c)
		}
	}
	return perhaps, perhaps
}

// receiveOf finds the request for the receive of a call of Sendrecv. A request of an earlier call may be found
// besides: that is complete.
func (l openMPI) receiveOf(c *Call) (state half) {
	peer, tag, buffer, count, comm := c.Arg("source"), c.Arg("recvtag"), c.Arg("recvbuf"), c.Arg("recvcount"), c.arg(Comm)
	if c.Function == "Sendrecv_replace" { // which sends a copy
		buffer, count = c.Arg("buf"), c.Arg("count")
	}
	for _, a := range []*Argument{tag, buffer, count, comm} {
		if a == nil || !a.Known {
			return perhaps
		}
	}
	c.search(func(v uint64) (Request, bool) {
		if l.process.At(l.class(v)) == nil {
			return Request{}, false
		}
		q := l.ofOpenMPI(v)
		if q.Why != "" || q.Kind != "receive" || q.handle != uint64(comm.Value) || q.buffer != uint64(buffer.Value) ||
			int64(q.count) != count.Value || int64(q.Peer) != peer.Value || int64(q.Tag) != tag.Value {
			return q, false
		}
		state = complete
		if !q.Done {
			state = pending
		}
		return q, !q.Done
	})
	return state
}

// halvesOfMPICH tells the halves by the requests in the frames of the call. MPICH waits in one loop for both requests
// (MPIR_Sendrecv_impl), and so has pointers to them in registers or on the stack, also if one of them is complete. So
// if the request of one half is found and pending, and no request of the other kind is pending, the other half is
// complete.
func (l *Library) halvesOfMPICH(c *Call) (send, receive half) {
	for _, name := range []string{"sendtag", "recvtag"} {
		if a := c.Arg(name); a == nil || !a.Known {
			return perhaps, perhaps
		}
	}
	found := map[uint32]half{sendOfMPICH: complete, receiveOfMPICH: complete}
	certain := false // a request is one of this call
	tried := map[uint64]bool{}
	c.search(func(at uint64) (Request, bool) {
		b := make([]byte, bytesOfMPICH)
		if tried[at] || at < 1<<20 || at>>47 != 0 || at&7 != 0 || !l.machine.Read(at, b) ||
			!isRequestOfMPICH(uint64(binary.LittleEndian.Uint32(b))) {
			return Request{}, false
		}
		tried[at] = true
		kind := kindOfMPICH(b)
		if kind != sendOfMPICH && kind != receiveOfMPICH || isComplete(at, b) {
			return Request{}, false
		}
		peer, tag := c.Arg("dest"), c.Arg("sendtag")
		if kind == receiveOfMPICH {
			peer, tag = c.Arg("source"), c.Arg("recvtag")
		}
		switch q := l.messageOfMPICH(at, b); {
		case q.Why != "":
			found[kind] = perhaps
		case q.Comm == c.Comm && int64(q.Peer) == peer.Value && int64(q.Tag) == tag.Value && found[kind] != perhaps:
			found[kind], certain = pending, true
		}
		return Request{}, false
	})
	if !certain || !c.isWhole() {
		return perhaps, perhaps
	}
	return found[sendOfMPICH], found[receiveOfMPICH]
}

// isWhole reports whether all registers are known that the inner frames of a call preserve.
func (c *Call) isWhole() bool {
	for i := c.Frame - 1; i >= 0; i-- {
		for n := range amd64.Registers {
			if _, ok := c.finder.Register(i, n); amd64.Saved(n) && !ok {
				return false
			}
		}
	}
	from, to := c.finder.Bounds(c.Frame)
	return to-from <= maxStack
}
