package mpi

import (
	"errors"
	"slices"
	"testing"

	"sdm/backend/probe/internal/argument"
)

func TestShort(t *testing.T) {
	world := &Communicator{Name: "MPI_COMM_WORLD", World: []int{0, 1, 2, 3}}
	reversed := &Communicator{Name: "reversed", World: []int{3, 2, 1, 0}}
	nameless := &Communicator{World: []int{1, 2}}
	spawned := &Communicator{Name: "workers", World: []int{0, 1}, Remote: []int{-1, -1, -1}}
	merged := &Communicator{Name: "merged", World: []int{0, 1, -1, -1}}
	servers := &Communicator{Name: "link", World: []int{0, 1}, Remote: []int{2, 3}}
	known := func(name string, k Kind, v int64) Argument {
		return Argument{Parameter: Parameter{name, k}, Value: v, Known: true}
	}
	unknown := func(name string, k Kind) Argument { return Argument{Parameter: Parameter{name, k}} }
	comm := known("comm", Comm, 1)
	for _, c := range []struct {
		call *Call
		want string
	}{
		{&Call{Comm: world, Args: []Argument{known("source", Peer, 2), known("tag", Tag, 99), comm}}, "from 2 tag 99"},
		{&Call{Comm: reversed, Args: []Argument{known("dest", Peer, 0), known("tag", Tag, 7), comm}}, "to 3 tag 7 on reversed"},
		{&Call{Comm: world, Args: []Argument{known("source", Peer, AnySource), known("tag", Tag, AnyTag), comm}}, "from any tag any"},
		{&Call{Comm: world, Args: []Argument{unknown("source", Peer), unknown("tag", Tag), comm}}, "from ? tag ?"},
		{&Call{Args: []Argument{known("source", Peer, 2), known("tag", Tag, 9), unknown("comm", Comm)}}, "from ? tag 9 on ?"},
		{&Call{Comm: nameless, Args: []Argument{known("root", Root, 1), comm}}, "root 2 on a communicator of 2"},
		{&Call{Comm: world, Args: []Argument{known("op", Op, opOfMPICH+3), comm}}, "MPI_SUM"},
		{&Call{Comm: world, Args: []Argument{comm}}, ""},
		{&Call{Requests: []Request{{Kind: "receive", Peer: 1, Tag: 5, Comm: reversed}, {Kind: "send", Why: "peer not known"}}}, "receive from 2 tag 5 and send to ?"},
		{&Call{Requests: []Request{{Done: true}, {Kind: "send", Done: true, Why: "peer not known"}, {Done: true, Why: "null"}}}, "a complete request and send to ? (complete) and no request"},
		{&Call{Comm: spawned, Args: []Argument{known("source", Peer, 2), known("tag", Tag, 5), comm}}, "from 2 of another job tag 5 on workers"},
		{&Call{Comm: merged, Args: []Argument{known("dest", Peer, 1), known("tag", Tag, 5), comm}}, "to 1 tag 5 on merged"},
		{&Call{Requests: []Request{{Kind: "receive", Peer: 3, Tag: 5, Comm: merged}, {Kind: "receive", Peer: AnySource, Tag: 6, Comm: merged}}},
			"receive from 3 of another job tag 5 and receive from any tag 6"},
		{&Call{Comm: merged, Args: []Argument{known("root", Root, 2), comm}}, "root 2 of another job on merged"},
		{&Call{Comm: servers, Args: []Argument{known("root", Root, 0), comm}}, "root 0 of the remote group on link"},
		{&Call{Comm: servers, Args: []Argument{known("root", Root, -3), comm}}, "root is the rank itself on link"},
		{&Call{Comm: servers, Args: []Argument{known("root", Root, -1), comm}}, "root in the own group on link"},
		{&Call{Requests: make([]Request, 9)}, "request of ? and request of ? and request of ? and 6 more"},
	} {
		if got := c.call.Short(&Library{Family: MPICH}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestEvidence(t *testing.T) {
	c := &Call{
		Args: []Argument{
			{Parameter: Parameter{"buf", Buffer}, Why: "not found"},
			{Parameter: Parameter{"source", Peer}, Known: true, Found: []string{"function", "caller"}},
			{Parameter: Parameter{"tag", Tag}, Known: true, Found: []string{"caller"}, Grade: argument.Memory},
			{Parameter: Parameter{"comm", Comm}, Why: "two answers differ", Found: []string{"function", "caller"}},
		},
		Requests: []Request{{Kind: "receive"}, {Kind: "send", Why: "peer not known"}},
	}
	const want = "; source: function, caller; tag: caller (memory as it is now); comm: two answers differ; request 1: peer not known"
	if got := c.Evidence(); got != want {
		t.Error(got)
	}
}

func TestSameCommunicator(t *testing.T) {
	a := &Communicator{Context: "4", World: []int{0, 1}}
	for _, c := range []struct {
		name string
		b    *Communicator
		same bool
	}{
		{"equal", &Communicator{Context: "4", World: []int{0, 1}, Rank: 1}, true},
		{"of disjoint members", &Communicator{Context: "4", World: []int{2, 3}}, false},
		{"duplicate", &Communicator{Context: "5", World: []int{0, 1}}, false},
		{"context not known", &Communicator{World: []int{0, 1}}, false},
		{"refused by the library", &Communicator{Context: "4", World: []int{0, 1}, Err: errors.New("no")}, false},
	} {
		if got := a.isSame(c.b); got != c.same {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestSignatures checks that each function of the table has parameters of known kinds, and that calls with
// a communicator name it comm.
func TestSignatures(t *testing.T) {
	all := parsed(table)
	if len(all) < 60 {
		t.Errorf("%d functions", len(all))
	}
	for name, list := range all {
		for _, p := range list {
			if p.Kind == Comm && p.Name != "comm" {
				t.Errorf("%s: communicator %s", name, p.Name)
			}
			if p.Kind == Buffer && !slices.Contains([]string{"buf", "sendbuf", "recvbuf", "base", "origin", "result", "compare"}, p.Name) {
				t.Errorf("%s: %s is a buffer", name, p.Name)
			}
		}
	}
	for symbol, want := range map[string]string{"PMPI_Recv": "Recv", "MPI_Recv": "Recv", "MPI_Recv_c": "Recv", "PMPIX_Recv": "", "main": "", "MPIR_Recv": ""} {
		if got, _ := function(symbol); got != want {
			t.Errorf("%s is %q", symbol, got)
		}
	}
	for name := range blocking {
		c := &Call{}
		for _, p := range all[name] {
			c.Args = append(c.Args, Argument{Parameter: p})
		}
		b := blocking[name]
		for _, arg := range []string{b.peer, b.tag, b.buffer, b.count} {
			if c.Arg(arg) == nil {
				t.Errorf("%s has no %s", name, arg)
			}
		}
	}
}
