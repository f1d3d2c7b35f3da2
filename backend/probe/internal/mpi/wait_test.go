package mpi

import (
	"reflect"
	"testing"
)

// TestWait checks what calls wait for, in values of no library.
func TestWait(t *testing.T) {
	const integer, pair = 1, 2
	l := &Library{Family: MPICH, types: map[uint64]*Type{integer: {Name: "MPI_INT", Bytes: 4}, pair: {Bytes: 16}}}
	world := &Communicator{Name: "MPI_COMM_WORLD", World: []int{0, 1, 2, 3}, Rank: 1}
	reversed := &Communicator{Name: "reversed", World: []int{3, 2, 1, 0}, Rank: 2}
	// call returns a call with the arguments of the table of signatures; those that are not named are not known.
	call := func(name string, c *Communicator, known map[string]int64) *Call {
		call := &Call{Function: name, Comm: c}
		for _, p := range parsed(table)[name] {
			v, ok := known[p.Name]
			call.Args = append(call.Args, Argument{Parameter: p, Value: v, Known: ok})
		}
		return call
	}
	waitall := call("Waitall", nil, map[string]int64{"count": 2})
	waitall.Requests = []Request{{Kind: "receive", Peer: 0, Tag: 5, Comm: reversed}, {Kind: "send", Why: "peer not known"}}
	waitany := call("Waitany", nil, map[string]int64{"count": 1})
	waitany.Requests = []Request{{Kind: "receive", Peer: AnySource, Tag: AnyTag, Comm: world}}
	waitCollective := call("Wait", nil, nil)
	waitCollective.Requests = []Request{{Kind: "collective", Comm: reversed}}
	for _, c := range []struct {
		name string
		call *Call
		want Wait
	}{
		{"receive", call("Recv", reversed, map[string]int64{"source": 0, "tag": 7, "comm": 1}),
			Wait{Class: Matching, Comm: reversed, All: true, Messages: []Message{{Peer: 3, Tag: 7, Comm: reversed, Kind: "receive"}}, Root: None, Bytes: None, Target: None}},
		{"from any", call("Probe", world, map[string]int64{"source": AnySource, "tag": AnyTag, "comm": 1}),
			Wait{Class: Matching, Comm: world, All: true, Messages: []Message{{Peer: AnySource, Tag: AnyTag, Comm: world, Kind: "receive"}}, Root: None, Bytes: None, Target: None}},
		{"send of which little is known", call("Ssend", nil, map[string]int64{"dest": 2}),
			Wait{Class: Matching, Messages: []Message{{Send: true, Peer: Unknown, Tag: Unknown, Kind: "send"}}, Root: None, Bytes: None, Target: None}},
		{"both", call("Sendrecv", world, map[string]int64{"dest": 2, "sendtag": 1, "source": 0, "recvtag": 3, "comm": 1}),
			Wait{Class: Matching, Comm: world, All: true, Messages: []Message{{Send: true, Peer: 2, Tag: 1, Comm: world, Kind: "send", Perhaps: true}, {Peer: 0, Tag: 3, Comm: world, Kind: "receive", Perhaps: true}}, Root: None, Bytes: None, Target: None}},
		{"the half that is not complete", halves(call("Sendrecv", world, map[string]int64{"dest": 2, "sendtag": 1, "source": 0, "recvtag": 3, "comm": 1}), complete, pending),
			Wait{Class: Matching, Comm: world, All: true, Messages: []Message{{Send: true, Peer: 2, Tag: 1, Comm: world, Kind: "send", Done: true}, {Peer: 0, Tag: 3, Comm: world, Kind: "receive"}}, Root: None, Bytes: None, Target: None}},
		{"one half of which nothing is known", halves(call("Sendrecv", world, map[string]int64{"dest": 2, "sendtag": 1, "source": 0, "recvtag": 3, "comm": 1}), pending, perhaps),
			Wait{Class: Matching, Comm: world, All: true, Messages: []Message{{Send: true, Peer: 2, Tag: 1, Comm: world, Kind: "send"}, {Peer: 0, Tag: 3, Comm: world, Kind: "receive", Perhaps: true}}, Root: None, Bytes: None, Target: None}},
		{"a half without a peer", call("Sendrecv", world, map[string]int64{"dest": NoPeer, "sendtag": 1, "source": 0, "recvtag": 3, "comm": 1}),
			Wait{Class: Matching, Comm: world, All: true, Messages: []Message{{Send: true, Peer: NoPeer, Tag: 1, Comm: world, Kind: "send"}, {Peer: 0, Tag: 3, Comm: world, Kind: "receive"}}, Root: None, Bytes: None, Target: None}},
		{"requests", waitall,
			Wait{Class: Completion, Messages: []Message{{Peer: 3, Tag: 5, Comm: reversed, Kind: "receive"}, {Send: true, Peer: Unknown, Tag: Unknown, Kind: "send"}}, Root: None, Bytes: None, Target: None}},
		{"one of the requests", waitany,
			Wait{Class: Completion, All: true, Any: true, Messages: []Message{{Peer: AnySource, Tag: AnyTag, Comm: world, Kind: "receive"}}, Root: None, Bytes: None, Target: None}},
		{"request of a collective", waitCollective,
			Wait{Class: Completion, All: true, Messages: []Message{{Peer: Unknown, Tag: Unknown, Comm: reversed, Kind: "collective"}}, Root: None, Bytes: None, Target: None}},
		{"barrier", call("Barrier", world, map[string]int64{"comm": 1}), Wait{Class: Together, Comm: world, Root: None, Bytes: None, Target: None}},
		{"broadcast", call("Bcast", reversed, map[string]int64{"count": 3, "type": pair, "root": 1, "comm": 1}),
			Wait{Class: Together, Comm: reversed, Root: 2, Bytes: 48, Target: None}},
		{"reduction", call("Allreduce", world, map[string]int64{"count": 2, "type": integer, "op": opOfMPICH + 3, "comm": 1}),
			Wait{Class: Together, Comm: world, Root: None, Op: "MPI_SUM", Bytes: 8, Target: None}},
		{"of the root", call("Gather", world, map[string]int64{"sendcount": 0, "sendtype": 0, "recvcount": 2, "recvtype": integer, "root": 1, "comm": 1}),
			Wait{Class: Together, Comm: world, Root: 1, Bytes: 8, Target: None}},
		{"of another one", call("Gather", world, map[string]int64{"sendcount": 3, "sendtype": integer, "root": 0, "comm": 1}),
			Wait{Class: Together, Comm: world, Root: 0, Bytes: 12, Target: None}},
		{"of a root that is not known", call("Scatter", world, map[string]int64{"recvcount": 3, "recvtype": integer, "comm": 1}),
			Wait{Class: Together, Comm: world, Root: Unknown, Bytes: Unknown, Target: None}},
		{"fence", call("Win_fence", nil, nil), Wait{Class: Together, Root: None, Bytes: None, Target: None}},
		{"release", call("Comm_free", world, nil), Wait{Class: Together, Comm: world, Root: None, Bytes: None, Target: None}},
		{"put", call("Put", world, map[string]int64{"rank": 3}), Wait{Class: OneSided, Comm: world, Root: None, Bytes: None, Target: 3}},
		{"lock", call("Win_lock", world, map[string]int64{"rank": 2}), Wait{Class: OneSided, Comm: world, Root: None, Bytes: None, Target: 2}},
		{"complete", call("Win_complete", nil, nil), Wait{Class: OneSided, Root: None, Bytes: None, Target: None}},
		{"end", call("Finalize", nil, nil), Wait{Class: Together, Root: None, Bytes: None, Target: None}},
		{"test", call("Test", nil, nil), Wait{Class: Completion, Polls: true, Root: None, Bytes: None, Target: None}},
		{"not collective", call("File_write_at", world, nil), Wait{Comm: world, Root: None, Bytes: None, Target: None}},
	} {
		c.want.Function = c.call.Function
		if got := c.call.Wait(l); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// halves says what is known about the halves of a call.
func halves(c *Call, send, receive half) *Call {
	c.send, c.receive = send, receive
	return c
}
