// The master of a simulated network: it records and checks what it receives.

package treetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
	"sdm/tree/aggregate"
)

// Master records what the root of a Net sends up. Its Receive must be set as
// Config.Master. It checks invariants: each requested rank is exactly once in one
// of answered, missing or lost; nothing follows a final reply; a rank is lost once
// and sends nothing afterwards.
type Master struct {
	// Log has a line for each packet, with its time.
	Log []string
	// Errors are violated invariants.
	Errors []string

	outcomes map[protocol.RequestID]*Outcome
	events   map[rank.ID][]Event
	lost     map[rank.ID]bool
}

// Event is one event, or piece of output, of one rank.
type Event struct {
	Kind protocol.Kind
	Body string
	At   time.Duration // when it was received
}

// Outcome is the result of one request.
type Outcome struct {
	Asked rank.Set
	// Missing are ranks that were reported as late and have not answered since.
	Missing rank.Set
	// Answered are all ranks that have answered, including those answered for
	// because they are lost or do not exist.
	Answered rank.Set
	// First is the time of the first partial or final reply. Since and Wait are the request's.
	First, Since, Wait time.Duration
	Ended, Final       bool
	// Received is the number of events of each rank that were received before its
	// answer.
	Received map[rank.ID]int

	answers SlowReplies
	missing []protocol.Group
}

// NewMaster returns a master that has received nothing.
func NewMaster() *Master {
	return &Master{
		outcomes: make(map[protocol.RequestID]*Outcome),
		events:   make(map[rank.ID][]Event),
		lost:     make(map[rank.ID]bool),
	}
}

// Ask sends a command and records its outcome.
func (m *Master) Ask(n *Net, id protocol.RequestID, ranks rank.Set, wait time.Duration, body string) {
	m.expect(id, ranks, n.Now(), wait)
	n.Command(wire.Message{Kind: wire.Command, ID: id, Ranks: ranks, Wait: wait, Body: []byte(body)})
}

// Build sends the Init.
func (m *Master) Build(n *Net, id protocol.RequestID, wait time.Duration) {
	m.expect(id, rank.Range(0, rank.ID(n.cfg.Table.Size-1)), n.Now(), wait)
	n.Init(id, wait)
}

func (m *Master) expect(id protocol.RequestID, ranks rank.Set, since, wait time.Duration) {
	o := &Outcome{Asked: ranks, Since: since, Wait: wait, Received: make(map[rank.ID]int)}
	o.answers.Expect(ranks)
	m.outcomes[id] = o
}

// Outcome returns the outcome of a request so far.
func (m *Master) Outcome(id protocol.RequestID) *Outcome { return m.outcomes[id] }

// Events returns all events received from a rank, in order.
func (m *Master) Events(r rank.ID) []Event { return m.events[r] }

// Lost reports whether an event has reported a rank as lost.
func (m *Master) Lost(r rank.ID) bool { return m.lost[r] }

// Receive processes one packet of the root.
func (m *Master) Receive(at time.Duration, msg wire.Message) {
	m.Log = append(m.Log, at.String()+" "+msg.String())
	switch msg.Kind {
	case wire.Events:
		for _, g := range msg.Groups {
			m.event(at, g)
		}
	case wire.Reply:
		o := m.outcomes[msg.ID]
		if o == nil {
			m.fault("reply to request %d, which is not known", msg.ID)
			return
		}
		m.reply(o, at, msg)
	}
}

func (m *Master) fault(format string, args ...any) {
	m.Errors = append(m.Errors, fmt.Sprintf(format, args...))
}

func (m *Master) event(at time.Duration, g protocol.Group) {
	for r := range g.Ranks.All() {
		if m.lost[r] {
			m.fault("rank %d is lost and says %v", r, g)
		}
		if g.Kind == protocol.KindLost {
			m.lost[r] = true
			continue
		}
		m.events[r] = append(m.events[r], Event{g.Kind, string(g.Body), at})
	}
}

func (m *Master) reply(o *Outcome, at time.Duration, msg wire.Message) {
	if o.Final {
		m.fault("%v comes after the end", msg)
	}
	if late := msg.Flags&wire.Late != 0; late != o.Ended {
		m.fault("%v: late is %v, but the partial answer has come: %v", msg, late, o.Ended)
	}
	for _, g := range msg.Groups {
		m.answer(o, g)
	}
	if msg.Flags&(wire.Partial|wire.Final) != 0 && !o.Ended {
		o.Ended, o.First = true, at
		if owed := o.Asked.Minus(o.Answered).Minus(o.Missing); !owed.IsEmpty() {
			m.fault("%v does not say what became of %v", msg, owed)
		}
	}
	if o.Final = msg.Flags&wire.Final != 0; o.Final && !o.Asked.Minus(o.Answered).Equal(o.Missing) {
		m.fault("%v ends the request, %v have not answered and %v are missing", msg, o.Asked.Minus(o.Answered), o.Missing)
	}
}

func (m *Master) answer(o *Outcome, g protocol.Group) {
	if twice := g.Ranks.Intersect(o.Answered); !twice.IsEmpty() {
		m.fault("%v answer twice: %v", twice, g)
	}
	if strange := g.Ranks.Minus(o.Asked); !strange.IsEmpty() {
		m.fault("%v were not asked: %v", strange, g)
	}
	if g.Kind == protocol.KindMissing && strings.Contains(string(g.Body), "no answer") {
		if twice := g.Ranks.Intersect(o.Missing); !twice.IsEmpty() {
			m.fault("%v are missing twice: %v", twice, g)
		}
		o.Missing = o.Missing.Union(g.Ranks)
		o.missing = append(o.missing, g)
		return
	}
	o.Missing = o.Missing.Minus(g.Ranks)
	o.Answered = o.Answered.Union(g.Ranks)
	o.answers.Add(g)
	for r := range g.Ranks.All() {
		o.Received[r] = len(m.events[r])
	}
}

// Groups returns all merged answers, and the reports of ranks that are still
// missing.
func (o *Outcome) Groups() []protocol.Group {
	groups := slices.Clone(o.answers.groups)
	for _, g := range o.missing {
		if g.Ranks = g.Ranks.Intersect(o.Missing); !g.Ranks.IsEmpty() {
			groups = append(groups, g)
		}
	}
	aggregate.Sort(groups)
	return groups
}

// Bound returns how long an event of a rank may take to the master if no packet
// takes longer than delay: the hold-back times of all vertices and the delays.
// Stops may be held longer while more arrive, and changes of state with them; both
// are held longest while ranks start.
func Bound(t protocol.RouteTable, delay time.Duration, k protocol.Kind, starting bool) time.Duration {
	held := 370 * time.Millisecond
	switch {
	case k.IsOutput():
		held = 80 * time.Millisecond
	case starting:
		held += 2 * time.Second
	}
	return held + time.Duration(Depth(t))*delay
}
