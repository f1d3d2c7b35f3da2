package overlay

import (
	"encoding/json"
	"strings"
	"testing"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
	"sdm/protocol/wire"
)

// narrow is a sender that accepts packets of at most 3 groups of one byte.
type narrow struct {
	sender
	got []wire.Message
}

func (n *narrow) put(m *wire.Message) error {
	size := 0
	for _, g := range m.Groups {
		if g.Kind != protocol.KindFault && g.Kind != protocol.KindNote {
			size += len(g.Body) + 9*len(g.Columns) + 9*len(g.Waits.Edges())
		}
	}
	if size > 3 {
		return ErrTooLong
	}
	n.got = append(n.got, *m)
	return nil
}

func TestLongPacketsAreParted(t *testing.T) {
	group := func(body string) protocol.Group {
		g := protocol.Group{Kind: protocol.KindStopped, Body: []byte(body)}
		if text, ok := strings.CutPrefix(body, "wide"); ok {
			g.Body, g.Columns = []byte(text), []column.Column{{Name: "args.x"}}
		}
		if text, ok := strings.CutPrefix(body, "waits"); ok {
			g.Body, g.Waits = []byte(text), wait.Of(rank.Of(1), wait.Rank{Waits: []wait.Message{{Peer: 2}}})
		}
		if text, ok := strings.CutPrefix(body, "out"); ok {
			g.Kind, g.Body = protocol.KindStdout, []byte(text)
		}
		return g
	}
	tests := []struct {
		name   string
		kind   wire.Kind
		groups []string
		want   string
	}{
		{"short", wire.Reply, []string{"a", "b"}, "ab!"},
		{"long", wire.Reply, []string{"a", "b", "c", "d", "e", "f", "g"}, "abc de fg!"},
		{"one group is too long", wire.Reply, []string{"a", "bbbbbbb", "c"}, "a FAULT c!"},
		{"an answer with too many edges", wire.Reply, []string{"a", "waitsb"}, "a b without edges!"},
		{"an event that is too long", wire.Events, []string{"a", "bbbbbbb", "c"}, `a {}[details of the event "stopped" are lost: packet is too long] c!`},
		{"an event with too many values", wire.Events, []string{"wideb", "c"}, `b[details of the event "stopped" are lost: packet is too long] c!`},
		{"output that is too long", wire.Events, []string{"a", "outbbbbbbb"}, "a [7 bytes of output are lost: packet is too long]!"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := wire.Message{Kind: test.kind, Flags: wire.Final | wire.Partial | wire.Late, Marks: []wire.Mark{{Last: 1}}}
			for _, body := range test.groups {
				m.Groups = append(m.Groups, group(body))
			}
			n := &narrow{}
			check(t, putParts(n, &m))
			var parts []string
			for i, p := range n.got {
				if last := i == len(n.got)-1; (len(p.Marks) > 0) != last {
					t.Errorf("part %d has marks %v", i, p.Marks)
				}
				text := ""
				for _, g := range p.Groups {
					switch g.Kind {
					case protocol.KindFault:
						text += "FAULT"
					case protocol.KindNote:
						var note protocol.Note
						check(t, json.Unmarshal(g.Body, &note))
						text += "[" + note.Text + "]"
					default:
						text += string(g.Body)
						if !g.Waits.Cut().IsEmpty() {
							text += " without edges"
						}
					}
				}
				switch p.Flags {
				case m.Flags:
					text += "!"
				case wire.Late:
				default:
					t.Errorf("a part has flags %v", p.Flags)
				}
				parts = append(parts, text)
			}
			if got := strings.Join(parts, " "); got != test.want {
				t.Errorf("parts %q, want %q", got, test.want)
			}
		})
	}
}
