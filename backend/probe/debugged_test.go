package probe

import (
	"os"
	"testing"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// answering is a debugger that answers at once with a group for each request.
type answering struct {
	backend.Backend
	sink   backend.Sink
	answer func(q backend.Request) protocol.Group
}

func (a *answering) Attach(protocol.RequestID, []backend.Target, string, time.Duration) {}
func (a *answering) Do(q backend.Request)                                               { a.sink.Reply(q.ID, a.answer(q)) }

// replies are the groups that a sink has got.
type replies []protocol.Group

func (r *replies) Reply(_ protocol.RequestID, groups ...protocol.Group) { *r = append(*r, groups...) }
func (r *replies) Event(...protocol.Group)                              {}

func TestDebugged(t *testing.T) {
	sleep := start(t)
	var got replies
	d, err := WithWaits(func(k backend.Sink) (backend.Backend, error) {
		return &answering{sink: k, answer: func(q backend.Request) protocol.Group {
			g := protocol.Group{Kind: protocol.KindResult, Ranks: q.Ranks, Body: []byte("{}")}
			if q.Command.Name == "stacks" {
				g.Stack = stack.New(0, []stack.Frame{{Func: "main"}})
				g.Columns = []column.Column{column.New(backend.RegistersColumn+"0", 0, "3=1 7=2", 0), column.New("other", 0, "1", 0)}
			}
			return g
		}}, nil
	}, &got)
	if err != nil {
		t.Fatal(err)
	}
	d.Attach(1, []backend.Target{{Rank: 0, PID: sleep.Process.Pid}, {Rank: 1, Core: "core"}, {Rank: 2, PID: os.Getpid() << 10}}, "", 0)
	ask := func(id protocol.RequestID, name string, ranks ...rank.ID) protocol.Group {
		got = nil
		d.Do(backend.Request{ID: id, Ranks: rank.Of(ranks...), Command: &protocol.Command{Name: name}})
		if len(got) != 1 {
			t.Fatalf("%s: %d answers", name, len(got))
		}
		return got[0]
	}
	if g := ask(2, "stacks", 0); g.Waits == nil || !g.Waits.Ranks().Contains(0) || len(g.Columns) != 1 || g.Columns[0].Name != "other" {
		t.Errorf("of a process: %v, columns %v", g.Waits, g.Columns)
	}
	for name, r := range map[string]rank.ID{"of a core file": 1, "of a process that has ended": 2} {
		if g := ask(3, "stacks", r); g.Waits != nil || len(g.Columns) != 1 {
			t.Errorf("%s: %v, columns %v", name, g.Waits, g.Columns)
		}
	}
	if g := ask(4, "print", 0); g.Waits != nil {
		t.Errorf("print: %v", g.Waits)
	}
	if len(d.asked) > 0 {
		t.Errorf("requests that were answered are kept: %v", d.asked)
	}
}
