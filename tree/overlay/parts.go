// Packets that exceed the maximum length.

package overlay

import (
	"fmt"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/wire"
)

// putParts puts a packet. A packet that is too long is sent as several, each with
// some of the groups; only the last is Final or Partial. If a single group is too
// long, it loses the edges of its wait graph. If it is too long without them: an
// answer becomes a fault of its ranks; an event loses its values and, if necessary,
// its body, so that the state of its ranks is still known, and a note after it
// reports that.
func putParts(w sender, m *wire.Message) error {
	err := w.put(m)
	if err == nil || len(m.Groups) == 0 {
		return err
	}
	part := *m
	if len(m.Groups) > 1 {
		half := len(m.Groups) / 2
		part.Flags &^= wire.Final | wire.Partial       // the next packet continues it
		part.Groups, part.Marks = m.Groups[:half], nil // marks apply to all groups: sent with the last
		if err := putParts(w, &part); err != nil {
			return err
		}
		part = *m
		part.Groups = m.Groups[half:]
		return putParts(w, &part)
	}
	g := m.Groups[0]
	if len(g.Waits.Edges()) > 0 {
		g.Waits = g.Waits.Without()
		part.Groups = []protocol.Group{g}
		return putParts(w, &part)
	}
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

// shorter returns replacements for an event that is too long, best first.
func shorter(g protocol.Group, err error) [][]protocol.Group {
	what := g.Kind.String()
	loss := g
	loss.Kind, loss.Columns, loss.Stack, loss.Waits = protocol.KindNote, nil, nil, nil
	loss.Body = canonical.JSON(protocol.Note{Text: fmt.Sprintf("details of the event %q are lost: %v", what, err)})
	if g.Kind.IsOutput() {
		loss.Body = canonical.JSON(protocol.Note{Text: fmt.Sprintf("%d bytes of output are lost: %v", len(g.Body), err)})
		return [][]protocol.Group{{loss}}
	}
	withoutValues, withoutBody := g, g
	withoutValues.Columns, withoutValues.Stack, withoutValues.Waits = nil, nil, nil
	withoutBody.Columns, withoutBody.Stack, withoutBody.Waits, withoutBody.Body = nil, nil, nil, []byte("{}")
	return [][]protocol.Group{{withoutValues, loss}, {withoutBody, loss}}
}
