// Package wait provides graphs of what ranks wait for: calls of MPI and peers, and what the ranks do that do not
// wait.
package wait

import (
	"slices"
	"strings"

	"sdm/protocol/rank"
)

// Graph tells for each of its ranks what it does, in which call of MPI it is, and for which ranks the call waits. It
// is immutable; several goroutines may use it. nil is the graph of no rank.
//
// Equal facts of several ranks are one row. Rows ascend by their fields, ranks aside, and no two
// have equal ones. So graphs of different ranks merge to the same graph in any order, and equal
// graphs have equal bytes.
type Graph struct {
	comms  []Comm
	calls  []Call
	edges  []Edge
	doings []Doing
	moved  rank.Set
	cut    rank.Set
	doubt  rank.Set
	unheld rank.Set
	coarse bool // rows of doings have no details, since they were too many; see maxDoings

	unexpected []Edge
	numbers    Pairs
}

// Comm is a communicator. Its members are ranks of MPI_COMM_WORLD.
type Comm struct {
	// Key is the same in all members, and differs for other communicators.
	Key     string
	Name    string // as MPI_Comm_get_name says, perhaps ""; if members differ, the least
	Members rank.Set
	Remote  rank.Set // the other group of an intercommunicator, the same one in all rows; empty: it is none
}

// Opposite returns the ranks from which a message to a rank may come: the other group of an intercommunicator, or
// all members.
func (c *Comm) Opposite(r rank.ID) rank.Set {
	switch {
	case c.Remote.IsEmpty(), c.Remote.Contains(r) && !c.Members.Contains(r):
		return c.Members
	case c.Members.Contains(r) && !c.Remote.Contains(r):
		return c.Remote
	}
	return c.Members.Union(c.Remote)
}

// Call is a call of MPI that all members of a communicator must make. Numbers that are not known are No, and
// texts that are not known are "".
type Call struct {
	Function string // "MPI_Bcast"
	Comm     string // Key of a Comm
	Root     int    // rank, or No
	Bytes    int    // must be equal in all members; or No
	Op       string // "MPI_SUM"
	Ranks    rank.Set
}

// No stands for a root, size or peer that is not known, or that a call does not have.
const No = -1

// Values of Peer and Tag beside real ones.
const (
	Any     = -2 // any source, any tag
	Unknown = -3
)

// Unnamed begins the Function of an edge for a call of a library that could not be named: "a call of libmpi.so.40".
const Unnamed = "a call of "

// Need tells whether a call needs all its edges.
type Need uint8

const (
	// All: the call waits for all of the messages.
	All Need = iota
	// One: one of the messages ends the call.
	One
	// Perhaps: the message may be complete already, and the call may wait for another one. The halves of
	// Sendrecv are of this kind.
	Perhaps
	// Target: there is no message. The call accesses the window of the peer, and waits for it or for the rank that
	// has locked the window.
	Target
	needs // number of values
)

// Edge is a message that some ranks wait for. With a peer that is Unknown it stands for what is not
// known of a call.
type Edge struct {
	Function string
	Comm     string // Key of a Comm; "": not known
	Send     bool   // the rank sends to the peer; else it receives from it
	// Object is set for an edge that is not of MPI: the peer must give up, write or read it. "lock of /tmp/x"
	Object string
	Need   Need
	Tag    int // or Any, or Unknown
	Pairs  Pairs
}

// Doing is what the first threads of ranks do. Each rank of a graph has exactly one. For ranks in a call of MPI,
// Frames begins with the caller of MPI.
type Doing struct {
	State  State
	Frames string // functions from the innermost, at most MaxFrames, one in each line
	// Calls is the number of threads that are in calls of MPI if there are several, else 0.
	Calls int
	// Of the first thread, as in Thread.
	Does, Detail string
	For          int
	Lock         bool
	// Left bounds how long it goes on sleeping, in seconds; 0: it does not sleep, or it is not known.
	// It does not distinguish rows; equal rows have the longest.
	Left int
	// Others are threads for which the first one waits, directly or not, and those that wait for one
	// another; ascending by number, at most MaxThreads.
	Others []Thread
	Ranks  rank.Set
}

// State is the state of a process.
type State uint8

const (
	NotKnown State = iota
	Running        // runs, or is ready to run
	Sleeping       // waits in the kernel
	Disk           // waits in the kernel and cannot be interrupted, as for a file system
	Stopped        // by a signal such as SIGSTOP
	Traced         // by a debugger
	Dead           // has ended
	Silent         // did not answer, or is lost
	Unread         // what it does could not be read
	states         // number of values
)

// stateNames are the states in texts and JSON.
var stateNames = [states]string{"unknown", "running", "sleeping", "disk", "stopped", "traced", "dead", "silent", "unread"}

func (s State) String() string { return stateNames[min(s, states-1)] }

// Bounds of what is kept for one rank: bytes of a text, edges, and calls.
const (
	maxText  = 1024
	MaxEdges = 256
	maxCalls = 64
)

// Names returns the functions of Frames.
func (d Doing) Names() []string {
	if d.Frames == "" {
		return nil
	}
	return strings.Split(d.Frames, "\n")
}

// Without returns the graph without edges: all its ranks are in Cut.
func (g *Graph) Without() *Graph {
	if g.IsEmpty() {
		return nil
	}
	return &Graph{comms: g.comms, calls: g.calls, doings: g.doings, moved: g.moved, cut: g.Ranks(), doubt: g.doubt,
		unheld: g.unheld, numbers: g.numbers, coarse: g.coarse}
}

// Only returns the graph of some of the ranks.
func (g *Graph) Only(ranks rank.Set) *Graph {
	if g.IsEmpty() || !ranks.Intersects(g.Ranks()) {
		return nil
	}
	out := &Graph{moved: g.moved.Intersect(ranks), cut: g.cut.Intersect(ranks), doubt: g.doubt.Intersect(ranks),
		unheld:  g.unheld.Intersect(ranks),
		numbers: g.numbers.only(ranks), coarse: g.coarse}
	used := map[string]bool{}
	for _, c := range g.calls {
		if c.Ranks = c.Ranks.Intersect(ranks); !c.Ranks.IsEmpty() {
			out.calls = append(out.calls, c)
			used[c.Comm] = true
		}
	}
	only := func(all []Edge) (edges []Edge) {
		for _, e := range all {
			if e.Pairs = e.Pairs.only(ranks); !e.Pairs.IsEmpty() {
				edges = append(edges, e)
				used[e.Comm] = true
			}
		}
		return edges
	}
	out.edges, out.unexpected = only(g.edges), only(g.unexpected)
	for _, d := range g.doings {
		if d.Ranks = d.Ranks.Intersect(ranks); !d.Ranks.IsEmpty() {
			out.doings = append(out.doings, d)
		}
	}
	for _, c := range g.comms {
		if used[c.Key] {
			out.comms = append(out.comms, c)
		}
	}
	return out
}

// IsEmpty reports whether the graph has no rank.
func (g *Graph) IsEmpty() bool { return g == nil || len(g.doings) == 0 }

// Ranks returns the ranks that the graph is about.
func (g *Graph) Ranks() rank.Set {
	if g == nil {
		return rank.Set{}
	}
	return ranksOfDoings(g.doings)
}

// ranksOfDoings joins sets pairwise, since each union takes time for both.
func ranksOfDoings(rows []Doing) rank.Set {
	switch len(rows) {
	case 0:
		return rank.Set{}
	case 1:
		return rows[0].Ranks
	}
	half := len(rows) / 2
	return ranksOfDoings(rows[:half]).Union(ranksOfDoings(rows[half:]))
}

// Comms returns the communicators of calls and edges, ascending by key. The results of this and the following
// methods must not be changed.
func (g *Graph) Comms() []Comm {
	if g == nil {
		return nil
	}
	return g.comms
}

// Comm returns the communicator of a key; ok is false if there is none.
func (g *Graph) Comm(key string) (c Comm, ok bool) {
	i, ok := slices.BinarySearchFunc(g.Comms(), key, func(c Comm, key string) int { return strings.Compare(c.Key, key) })
	if !ok {
		return Comm{}, false
	}
	return g.comms[i], true
}

// Calls returns the calls of MPI.
func (g *Graph) Calls() []Call {
	if g == nil {
		return nil
	}
	return g.calls
}

// Edges returns the messages that ranks wait for.
func (g *Graph) Edges() []Edge {
	if g == nil {
		return nil
	}
	return g.edges
}

// Unexpected returns messages that have arrived at ranks and that no receive has taken: the first one that has come
// in place of an edge, from the same peer under another tag, from another peer, or in another communicator.
// The peer is the sender. Function is "", and Send is false. Such a message may be received later.
func (g *Graph) Unexpected() []Edge {
	if g == nil {
		return nil
	}
	return g.unexpected
}

// Numbers returns the ranks of MPI_COMM_WORLD that the ranks say they are, as peers. Ranks that have not said it are
// not in it. Peers, roots and members of communicators in a graph are ranks of MPI_COMM_WORLD; see Renumbered.
func (g *Graph) Numbers() Pairs {
	if g == nil {
		return Pairs{}
	}
	return g.numbers
}

// Doings returns what ranks do: each rank is in one of them.
func (g *Graph) Doings() []Doing {
	if g == nil {
		return nil
	}
	return g.doings
}

// Moved returns the ranks that have made progress since the sample before: they are in other calls of MPI, or
// the frames of the callers of MPI have changed.
func (g *Graph) Moved() rank.Set {
	if g == nil {
		return rank.Set{}
	}
	return g.moved
}

// Doubt returns the ranks of which it is not known whether a message has reached them since the sample before.
func (g *Graph) Doubt() rank.Set {
	if g == nil {
		return rank.Set{}
	}
	return g.doubt
}

// Unheld returns the ranks that could not be held in some sample, since another process traced them, or they did not
// stop in time. What they did then may be another thing than what was read.
func (g *Graph) Unheld() rank.Set {
	if g == nil {
		return rank.Set{}
	}
	return g.unheld
}

// Cut returns the ranks whose edges were too many to be kept.
func (g *Graph) Cut() rank.Set {
	if g == nil {
		return rank.Set{}
	}
	return g.cut
}

// Size returns the approximate memory of the graph, in bytes.
func (g *Graph) Size() int {
	if g == nil {
		return 0
	}
	const bare, row = 40, 64
	n := bare + g.moved.Size() + g.cut.Size() + g.doubt.Size() + g.unheld.Size()
	for _, c := range g.comms {
		n += row + len(c.Key) + len(c.Name) + c.Members.Size() + c.Remote.Size()
	}
	for _, c := range g.calls {
		n += row + len(c.Function) + len(c.Comm) + len(c.Op) + c.Ranks.Size()
	}
	for _, e := range g.edges {
		n += row + len(e.Function) + len(e.Comm) + len(e.Object) + e.Pairs.size()
	}
	for _, d := range g.doings {
		n += row + len(d.Frames) + len(d.Does) + len(d.Detail) + d.Ranks.Size()
		for _, t := range d.Others {
			n += row + len(t.Name) + len(t.Frames) + len(t.Does) + len(t.Detail)
		}
	}
	for _, e := range g.unexpected {
		n += row + len(e.Comm) + e.Pairs.size()
	}
	n += g.numbers.size()
	return n
}
