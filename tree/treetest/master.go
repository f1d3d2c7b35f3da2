// The master of a simulated network: it keeps what it hears, and finds fault.

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

// Master hears what the root of a Net sends up. Put its Hear into Config.Master.
// It checks what holds whatever happens below: each rank asked is in one of
// answered, missing or lost, and once; nothing comes after Final; what is lost is
// lost once and says nothing more.
type Master struct {
	// Log has a line for each packet, with its time.
	Log []string
	// Errors are broken promises.
	Errors []string

	outcomes map[protocol.RequestID]*Outcome
	said     map[rank.ID][]Said
	lost     map[rank.ID]bool
}

// Said is one event, or piece of output, of one rank.
type Said struct {
	Kind protocol.Kind
	Body string
	At   time.Duration // when it was heard
}

// Outcome is what became of one request.
type Outcome struct {
	Asked rank.Set
	// Missing are those of whom the master has been told that they are late, and
	// who have not answered since.
	Missing rank.Set
	// Answered are all that have answered; those lost, or nowhere, too.
	Answered rank.Set
	// First is when the first Partial or Final came, Wait and Since what was asked.
	First, Since, Wait time.Duration
	Ended, Final       bool
	// Heard is how much each rank had said when its answer came.
	Heard map[rank.ID]int

	answers SlowReplies
	missing []protocol.Group
}

// NewMaster makes a master that has heard nothing.
func NewMaster() *Master {
	return &Master{
		outcomes: make(map[protocol.RequestID]*Outcome),
		said:     make(map[rank.ID][]Said),
		lost:     make(map[rank.ID]bool),
	}
}

// Ask sends a command and keeps what becomes of it.
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
	o := &Outcome{Asked: ranks, Since: since, Wait: wait, Heard: make(map[rank.ID]int)}
	o.answers.Expect(ranks)
	m.outcomes[id] = o
}

// Outcome gives what became of a request so far.
func (m *Master) Outcome(id protocol.RequestID) *Outcome { return m.outcomes[id] }

// Said gives all that a rank has said so far, in order.
func (m *Master) Said(r rank.ID) []Said { return m.said[r] }

// Lost tells whether a rank was said to be lost, unasked.
func (m *Master) Lost(r rank.ID) bool { return m.lost[r] }

// Hear takes in one packet of the root.
func (m *Master) Hear(at time.Duration, msg wire.Message) {
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
		m.said[r] = append(m.said[r], Said{g.Kind, string(g.Body), at})
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
		o.Heard[r] = len(m.said[r])
	}
}

// Groups gives all answers, folded: those missing with what was said of them.
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

// Bound is how long something that a rank does may take to the master, where no
// packet takes longer than delay: all holding back together, and the way. Stops
// may be gathered for longer, while more keep coming, and changes of state with them,
// both for longest while ranks start.
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
