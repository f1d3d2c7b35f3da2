// Package treetest provides a simulated network of vertices for tests: a virtual
// clock, links with delays, faults of servers, and scripted back ends.
//
// Everything happens in one goroutine, in an order that depends on the input only.
// A network of a thousand vertices runs in milliseconds.
package treetest

import (
	"container/heap"
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Config configures a network.
type Config struct {
	Table protocol.RouteTable
	// Delay returns how long a packet takes on a link; nil is always 100 µs.
	// Packets down a link never overtake each other, whatever it returns; packets
	// up do where sendqueue.Scope permits it.
	Delay func(from, to tree.NodeID) time.Duration
	// Dial returns how long connecting takes, or failing if there is a cause; nil
	// is two delays, and no failure.
	Dial func(child tree.NodeID) (took time.Duration, cause string)
	// Encode makes packets cross links in wire format; otherwise they are passed as
	// values.
	Encode bool
	// Backend receives the requests for servers; nil does not answer.
	Backend Backend
	// PauseOutput is called when a server pauses or resumes the output of its ranks,
	// unless nil.
	PauseOutput func(id protocol.ServerID, on bool)
	// Master is called with each packet that the root sends up, unless nil.
	Master func(at time.Duration, m wire.Message)
}

// Backend simulates the back ends of all servers. It answers with the methods of
// Server, at once or by After.
type Backend func(s *Server, d tree.Deliver)

// Net is a simulated network. It includes the root, which waits for an Init like
// the servers.
type Net struct {
	cfg      Config
	now      time.Duration
	agenda   agenda
	count    int // number of entries made, for their order
	vertices []*vertex
	// Packets counts the packets on links, by the vertex that sent them.
	Packets []int
}

// vertex is a Node, its place in the network and its pending Wake.
type vertex struct {
	id     tree.NodeID
	node   *tree.Node
	dead   bool
	frozen bool
	told   bool         // DeliverQuit
	queue  []tree.Input // inputs while frozen
	link   *link        // to the parent; nil: there is none
	below  map[tree.NodeID]*link
	moves  int    // counts losses and replacements of the parent
	epoch  uint64 // newest that the vertex knows
	wake   int    // number of the last Wake
}

// NewNet returns a network of the servers of a table and a root.
func NewNet(cfg Config) *Net {
	if cfg.Delay == nil {
		cfg.Delay = func(from, to tree.NodeID) time.Duration { return 100 * time.Microsecond }
	}
	n := &Net{cfg: cfg, Packets: make([]int, cfg.Table.Size+1)}
	for i := range cfg.Table.Size + 1 {
		n.vertices = append(n.vertices, &vertex{id: tree.NodeID(i), node: tree.New(tree.NodeID(i)),
			below: make(map[tree.NodeID]*link)})
	}
	return n
}

// Now returns the virtual time.
func (n *Net) Now() time.Duration { return n.now }

// Command sends the root a packet, as the master does.
func (n *Net) Command(m wire.Message) { n.step(n.vertices[0], tree.FromParent{Msg: m}) }

// Init sends the root the whole table.
func (n *Net) Init(id protocol.RequestID, wait time.Duration) {
	n.Command(wire.Message{Kind: wire.Init, ID: id, Wait: wait, Body: canonical.JSON(n.cfg.Table)})
}

// After calls do after a time.
func (n *Net) After(d time.Duration, do func()) {
	n.count++
	heap.Push(&n.agenda, entry{n.now + d, n.count, do})
}

// Run advances the time by d at most, or until no entry is left. It reports whether
// none is left.
func (n *Net) Run(d time.Duration) bool {
	end := n.now + d
	for len(n.agenda) > 0 && n.agenda[0].at <= end {
		e := heap.Pop(&n.agenda).(entry)
		n.now = e.at
		e.do()
	}
	n.now = end
	return len(n.agenda) == 0
}

// step processes one input of a vertex and executes its outputs.
func (n *Net) step(v *vertex, in tree.Input) {
	switch {
	case v.dead:
		return
	case v.frozen:
		v.queue = append(v.queue, in)
		return
	}
	for _, out := range v.node.Step(n.now, in) {
		n.do(v, out)
	}
}

func (n *Net) do(v *vertex, out tree.Output) {
	switch out := out.(type) {
	case tree.ToParent:
		n.up(v, out.Msg)
	case tree.ToChild:
		n.down(v, out.Child, out.Msg)
	case tree.Connect:
		n.dial(v, out)
	case tree.Deliver:
		if n.cfg.Backend != nil {
			// Not within the Step: a Node must not be called while its outputs are
			// processed.
			n.After(0, func() { n.backend(v, out) })
		}
	case tree.DeliverInit:
		n.After(0, func() { n.step(v, tree.LocalReady{}) })
	case tree.DeliverQuit:
		v.told = true
		if out.Cause != "" {
			n.After(0, func() { n.end(v, "closed by the other side") })
		}
	case tree.Epoch:
		v.epoch = out.Epoch
	case tree.PauseOutput:
		if n.cfg.PauseOutput != nil {
			n.cfg.PauseOutput(protocol.ServerID(v.id-1), out.On)
		}
	case tree.Disconnect:
		if l := v.below[out.Child]; l != nil {
			n.closeDown(l)
		}
	case tree.LeaveParent: // without a wait for another parent
		n.After(0, func() { n.end(v, "closed by the other side") })
	case tree.Wake:
		n.wake(v, out.At)
	default:
		panic(fmt.Sprintf("treetest: output %T is not known", out))
	}
}

func (n *Net) backend(v *vertex, d tree.Deliver) {
	if !v.dead {
		n.cfg.Backend(&Server{ID: protocol.ServerID(v.id - 1), net: n, vertex: v}, d)
	}
}

// wake keeps one timer for each vertex: the last Wake counts.
func (n *Net) wake(v *vertex, at time.Duration) {
	v.wake++
	if number := v.wake; at != 0 {
		n.After(max(0, at-n.now), func() {
			if v.wake == number {
				n.step(v, tree.Tick{})
			}
		})
	}
}

// Server is the interface of a Backend to one server.
type Server struct {
	ID     protocol.ServerID
	net    *Net
	vertex *vertex
}

// After calls do after a time, unless the server has ended.
func (s *Server) After(d time.Duration, do func()) {
	s.net.After(d, func() {
		if !s.vertex.dead {
			do()
		}
	})
}

// Reply answers a request for some ranks.
func (s *Server) Reply(id protocol.RequestID, g protocol.Group) {
	s.net.step(s.vertex, tree.LocalReply{ID: id, Groups: []protocol.Group{g}})
}

// Events sends events of ranks of the server.
func (s *Server) Events(groups ...protocol.Group) {
	s.net.step(s.vertex, tree.LocalEvents{Groups: groups})
}

// Server returns the interface to a server, to send events of its ranks.
func (n *Net) Server(id protocol.ServerID) *Server {
	return &Server{ID: id, net: n, vertex: n.vertices[id+1]}
}

// agenda is a heap of entries by time, and in order of entry among equal times.
type agenda []entry

type entry struct {
	at     time.Duration
	number int
	do     func()
}

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].number < a[j].number
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	(*a)[last] = entry{}
	*a = (*a)[:last]
	return e
}

// Quit ends the session, as the master does.
func (n *Net) Quit() { n.Command(wire.Message{Kind: wire.Quit}) }
