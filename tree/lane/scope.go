package lane

import (
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// Class is what kind of room a packet takes on its way.
type Class uint8

const (
	// Answer is a reply, or a sign of life: bounded by what was asked.
	Answer Class = iota
	// Event tells what became of ranks. What its ranks wrote before may be in it.
	Event
	// Output is what ranks wrote, and nothing else.
	Output
)

// Scope is what a packet on its way up is about: as much as tells whether it may
// pass another.
type Scope struct {
	Class   Class
	fixed   bool // passes nothing, and nothing passes it
	loose   bool // about no rank
	request protocol.RequestID
	ranks   rank.Set
	servers rank.Set // whose numbered events it holds, or that are lost
}

// ClassOf gives the class of a packet.
func ClassOf(m *wire.Message) Class {
	switch {
	case m.Kind != wire.Events:
		return Answer
	case m.Ranks.IsEmpty() && m.Flags&wire.Again == 0 && onlyOutput(m.Groups):
		return Output
	}
	return Event
}

// ScopeOf gives the scope of a packet.
func ScopeOf(m *wire.Message) Scope {
	s := Scope{Class: ClassOf(m)}
	switch m.Kind {
	case wire.Reply:
		s.request, s.ranks = m.ID, ranksOf(m.Groups)
	case wire.Events:
		s.ranks, s.servers = ranksOf(m.Groups), m.Ranks
		for _, mark := range m.Marks {
			s.servers = s.servers.Union(mark.Servers)
		}
		s.fixed = m.Flags&wire.Again != 0 // it ends what came before, and begins what follows
	default:
		s.loose = true
	}
	return s
}

func ranksOf(groups []protocol.Group) (all rank.Set) {
	for i := range groups {
		all = all.Union(groups[i].Ranks)
	}
	return all
}

func onlyOutput(groups []protocol.Group) bool {
	for i := range groups {
		if !groups[i].Kind.IsOutput() {
			return false
		}
	}
	return true
}

// Passes tells whether a packet may overtake another that was said before it: no
// rank has a part in both, the numbers of no server's events get out of order, and
// neither do the answers to one request. Output overtakes nothing.
func (s *Scope) Passes(earlier *Scope) bool {
	switch {
	case s.Class == Output:
		return false
	case s.loose:
		return !earlier.loose
	case s.fixed || earlier.fixed:
		return false
	case s.Class == Answer && earlier.Class == Answer && s.request == earlier.request:
		return false
	}
	return !s.ranks.Intersects(earlier.ranks) && !s.servers.Intersects(earlier.servers)
}
