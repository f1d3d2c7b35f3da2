// What a packet is about, and which earlier packets it may overtake.

package sendqueue

import (
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// Class is the flow-control class of a packet.
type Class uint8

const (
	// Answer is a reply or a heartbeat: bounded by what was requested.
	Answer Class = iota
	// Event contains events of ranks, and possibly earlier output of the same
	// ranks.
	Event
	// Output contains output of ranks only.
	Output
)

// Scope is what a packet is about. It decides which packets it may overtake.
type Scope struct {
	Class   Class
	fixed   bool // overtakes nothing and is overtaken by nothing
	loose   bool // concerns no rank
	request protocol.RequestID
	ranks   rank.Set
	servers rank.Set // servers whose numbered events it contains, or that are lost
}

// ClassOf returns the class of a packet.
func ClassOf(m *wire.Message) Class {
	switch {
	case m.Kind != wire.Events:
		return Answer
	case m.Ranks.IsEmpty() && m.Flags&wire.Again == 0 && onlyOutput(m.Groups):
		return Output
	}
	return Event
}

// ScopeOf returns the scope of a packet.
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
		s.fixed = m.Flags&wire.Again != 0 // it separates earlier packets from later ones
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

// Passes reports whether a packet may overtake an earlier one: they have no rank in
// common, no server's numbered events, and are not answers to the same request.
// Output overtakes nothing.
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
