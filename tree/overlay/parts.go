// What is too long for one packet.

package overlay

import (
	"fmt"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/wire"
)

// putParts puts a packet; one that is too long goes as several, each with a part
// of the groups, of which only the last is Final or Partial. A single group that
// is too long becomes a fault of its ranks; an event loses its values and, if need
// be, its body, so that the state of its ranks is known all the same, and a note
// behind it says so.
func putParts(w way, m *wire.Message) error {
	err := w.put(m)
	if err == nil || len(m.Groups) == 0 {
		return err
	}
	part := *m
	if len(m.Groups) > 1 {
		half := len(m.Groups) / 2
		part.Flags &^= wire.Final | wire.Partial       // the next one continues it
		part.Groups, part.Marks = m.Groups[:half], nil // they are about all groups, seen with the last
		if err := putParts(w, &part); err != nil {
			return err
		}
		part = *m
		part.Groups = m.Groups[half:]
		return putParts(w, &part)
	}
	g := m.Groups[0]
	if m.Kind == wire.Reply {
		part.Groups = []protocol.Group{tooLong(g, err)}
		return w.put(&part)
	}
	for _, groups := range shorter(g, err) {
		part.Groups = groups
		if fits := w.put(&part); fits == nil {
			return nil
		}
	}
	return err
}

func tooLong(g protocol.Group, err error) protocol.Group {
	return protocol.Group{Kind: protocol.KindFault, Ranks: g.Ranks, Body: canonical.JSON(protocol.Fault{
		Kind: protocol.FaultInternal, Op: "answer", Message: fmt.Sprint(err), Hint: "ask fewer ranks at once, or for less",
	})}
}

// shorter gives what may stand for an event that is too long, best first.
func shorter(g protocol.Group, err error) [][]protocol.Group {
	what := g.Kind.String()
	loss := g
	loss.Kind, loss.Columns, loss.Stack = protocol.KindNote, nil, nil
	loss.Body = canonical.JSON(protocol.Note{Text: fmt.Sprintf("details of the event %q are lost: %v", what, err)})
	if g.Kind.IsOutput() {
		loss.Body = canonical.JSON(protocol.Note{Text: fmt.Sprintf("%d bytes of output are lost: %v", len(g.Body), err)})
		return [][]protocol.Group{{loss}}
	}
	poor, poorer := g, g
	poor.Columns, poor.Stack = nil, nil
	poorer.Columns, poorer.Stack, poorer.Body = nil, nil, []byte("{}")
	return [][]protocol.Group{{poor, loss}, {poorer, loss}}
}
