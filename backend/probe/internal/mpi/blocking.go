// Requests that Open MPI makes for blocking calls.

package mpi

import (
	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/argument"
)

// blocking are the names of the arguments of blocking calls for which Open MPI makes a request.
var blocking = map[string]struct{ kind, peer, tag, buffer, count string }{
	"Recv":     {"receive", "source", "tag", "buf", "count"},
	"Send":     {"send", "dest", "tag", "buf", "count"},
	"Ssend":    {"send", "dest", "tag", "buf", "count"},
	"Sendrecv": {"receive", "source", "recvtag", "recvbuf", "recvcount"},
}

// maxStack bounds the part of the stack that is searched for a request, in bytes.
const maxStack = 1 << 14

// byRequest completes the peer and the tag of a blocking call from the request that Open MPI has made for it,
// which is in one of the inner frames. A request counts only if it has the same communicator, buffer and count.
// An argument that differs from the request becomes unknown, unless its grade is Sure.
func (l *Library) byRequest(c *Call) {
	names, ok := blocking[c.Function]
	if l.Family != OpenMPI || !ok {
		return
	}
	peer, tag, buffer, count, comm := c.Arg(names.peer), c.Arg(names.tag), c.Arg(names.buffer), c.Arg(names.count), c.arg(Comm)
	if isSure(peer) && isSure(tag) || !buffer.Known || !comm.Known {
		return
	}
	tried := map[uint64]bool{}
	try := func(v uint64) (Request, bool) {
		if tried[v] || l.process.At((openMPI{l}).class(v)) == nil {
			return Request{}, false
		}
		tried[v] = true
		q := openMPI{l}.ofOpenMPI(v)
		return q, q.Why == "" && q.Kind == names.kind && q.handle == uint64(comm.Value) && q.buffer == uint64(buffer.Value) &&
			(!count.Known || int64(q.count) == count.Value)
	}
	if q, ok := c.search(try); ok {
		l.agree(peer, q.Peer, l.Family.peer)
		l.agree(tag, q.Tag, l.Family.tag)
	}
}

func isSure(a *Argument) bool { return a.Known && a.Grade == argument.Sure }

// search returns the first request that try accepts among the saved registers and the words of the inner frames
// of the call.
func (c *Call) search(try func(uint64) (Request, bool)) (Request, bool) {
	for i := c.Frame - 1; i >= 0; i-- {
		for n := range amd64.Registers {
			if v, ok := c.finder.Register(i, n); ok && amd64.Saved(n) {
				if q, ok := try(v); ok {
					return q, true
				}
			}
		}
	}
	from, to := c.finder.Bounds(c.Frame)
	for at := to - 8; at >= from && to-at < maxStack; at -= 8 {
		if v, ok := c.finder.Read(at, 8); ok {
			if q, ok := try(v); ok {
				return q, true
			}
		}
	}
	return Request{}, false
}

// agree completes an argument by the value v of a request. name converts a number of the library to one of this
// package.
func (l *Library) agree(a *Argument, v int, name func(int) int) {
	switch {
	case !a.Known:
		a.Value, a.Known, a.Grade, a.Why, a.Found = l.Family.raw(v), true, argument.Sure, "", []string{"request"}
	case name(int(a.Value)) == v:
		a.Grade, a.Found = argument.Sure, append(a.Found, "request")
	case a.Grade != argument.Sure:
		a.Known, a.Why = false, "the request says otherwise"
	}
}
