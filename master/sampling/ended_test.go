package sampling

import (
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// sampleTwice takes two samples of ranks 0 and 1. In the second one rank 1 gives another answer. It
// returns the answers to the call.
func sampleTwice(t *testing.T, second protocol.Group) (told []string) {
	t.Helper()
	var s Sampler
	both := rank.Range(0, 1)
	tree := stack.Of(both, []stack.Frame{{Func: "main"}})
	out, busy := s.Begin(0, Call{ID: 1, Ranks: both, Args: protocol.Args{Samples: 2}, Wait: time.Second}, rank.Set{})
	if busy != nil {
		t.Fatal(busy)
	}
	answers := []session.Event{session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: both, Stack: tree, Body: []byte("{}")})}
	for len(out) > 0 {
		o := out[0]
		out = out[1:]
		switch o := o.(type) {
		case Ask:
			out = append(o.Then(0, answers, session.Done{}), out...)
		case Timer:
			answers = []session.Event{
				session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: rank.Of(0), Stack: tree.Only(rank.Of(0)), Body: []byte("{}")}),
				session.NewEvent(second),
			}
			out = append(s.Wake(0, o.Number, rank.Set{}), out...)
		case Answer:
			if o.Event.Done == nil {
				told = append(told, o.Event.Name+" "+o.Event.Group.String())
			}
		}
	}
	return told
}

// A rank that ends or fails after a sample has a result of its own, and its answer is told.
func TestRanksThatLeave(t *testing.T) {
	const still = `{"by":"line","samples":N,"every":"1s","moved":false}`
	alone := func(r, samples, hits string) string {
		return "reply reply [" + r + "] " + strings.Replace(still, "N", samples, 1) + " {main [" + r + "]" + hits + "}"
	}
	for _, c := range []struct{ body, want string }{
		{`{"kind":"state","message":"the rank has exited"}`, `error error [1] {"kind":"state","message":"the rank has exited"}`},
		{`{"kind":"gdb","message":"unreadable"}`, `error error [1] {"kind":"gdb","message":"unreadable"}`},
	} {
		got := sampleTwice(t, protocol.Group{Kind: protocol.KindFault, Ranks: rank.Of(1), Body: []byte(c.body)})
		want := []string{alone("0", "2", " x2"), alone("1", "1", ""), c.want}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
