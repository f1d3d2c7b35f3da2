// Messages that have come in place of others.

package verdict

import (
	"strconv"

	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// came is a message that has arrived, and that no receive has taken.
type came struct {
	peer, tag int
	comm      string
}

// arrived returns the messages that have arrived at the ranks.
func arrived(g *wait.Graph) map[rank.ID][]came {
	all := map[rank.ID][]came{}
	for _, e := range g.Unexpected() {
		for _, run := range e.Pairs.Runs() {
			for r := run.First; r <= run.Last(); r++ {
				all[r] = append(all[r], came{run.Of(r), e.Tag, e.Comm})
			}
		}
	}
	return all
}

// instead describes the messages that have come in place of those for which a run of an edge waits: ", 2 has sent tag
// 7". Those of several ranks are described if they are of the same kind: ", 1..4 have sent tag 7". "": there are none.
func (s *solver) instead(e *wait.Edge, run wait.Run) string {
	if e.Send || len(s.g.Unexpected()) == 0 {
		return ""
	}
	first, ok := s.cameFor(e, run.First, run.Peer)
	if !ok {
		return ""
	}
	for r := run.First + 1; r <= run.Last(); r++ {
		next, ok := s.cameFor(e, r, run.Of(r))
		if !ok || next.tag != first.tag || next.comm != first.comm || next.peer != run.Of(r) || first.peer != run.Peer {
			return ""
		}
	}
	text := ", " + strconv.Itoa(first.peer)
	if last := run.Of(run.Last()); run.Count > 1 && last != run.Peer {
		text += ".." + strconv.Itoa(last) + " have"
	} else {
		text += " has"
	}
	text += " sent " + tagText(first.tag)
	if c, ok := s.g.Comm(first.comm); ok && first.comm != e.Comm {
		text += " on " + commName(c)
	}
	return text
}

// cameFor returns the message that has come in place of the one for which a rank waits by an edge: in the same
// communicator from the same peer or with the same tag, or in another communicator with the same tag, of the same peer
// first. A receive of any tag takes each tag.
func (s *solver) cameFor(e *wait.Edge, r rank.ID, peer int) (came, bool) {
	if s.arrived == nil {
		s.arrived = arrived(s.g)
	}
	fits := func(c came) bool { return c.tag == e.Tag || e.Tag == wait.Any }
	for _, like := range []func(c came) bool{
		func(c came) bool { return c.comm == e.Comm && (c.peer == peer || peer == wait.Any) },
		func(c came) bool { return c.comm == e.Comm && fits(c) },
		func(c came) bool { return c.comm != e.Comm && fits(c) && (c.peer == peer || peer == wait.Any) },
		func(c came) bool { return c.comm != e.Comm && fits(c) },
	} {
		for _, c := range s.arrived[r] {
			if like(c) {
				return c, true
			}
		}
	}
	return came{}, false
}
