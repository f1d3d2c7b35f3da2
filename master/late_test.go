package master

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// Rank 3 stops after its sample is over. It is continued and its stop is not reported, unless it
// cannot be continued or the user has requested the stop.
func TestStopsAfterSamples(t *testing.T) {
	const stop = `{"event":"stopped","ranks":"3","n":1,"reason":"interrupted"}`
	for _, c := range []struct {
		name        string
		silent      bool // rank 3 does not answer the interrupt either
		refuses     bool // it cannot be continued
		interrupted bool // the user interrupts it before it stops
		continued   bool // it is continued
		told        bool // its stop is reported
	}{
		{name: "runs on", continued: true},
		{name: "silent", silent: true, continued: true},
		{name: "cannot run on", refuses: true, continued: true, told: true},
		{name: "wanted", interrupted: true, told: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, w := walking(t)
				w.root.answer = func(f *fakeRoot, msg wire.Message) {
					switch three := msg.Ranks.Intersect(rank.Of(3)); {
					case msg.Kind == wire.Command && commandOf(msg).Name == "interrupt" && c.silent:
						msg.Ranks = msg.Ranks.Minus(three)
						time.AfterFunc(msg.Wait, func() {
							f.reply(msg.ID, wire.Final, protocol.Group{Kind: protocol.KindResult, Ranks: msg.Ranks, Body: []byte("{}")},
								protocol.Group{Kind: protocol.KindMissing, Ranks: three, Body: []byte(`{"cause":"no answer"}`)})
							f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindStopped, Ranks: msg.Ranks, Body: []byte(`{"reason":"interrupted"}`)}}})
						})
					case msg.Kind == wire.Command && commandOf(msg).Name == "interrupt":
						obedient(f, msg)
						f.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindStopped, Ranks: msg.Ranks.Minus(three), Body: []byte(`{"reason":"interrupted"}`)}}})
					case msg.Kind == wire.Command && commandOf(msg).Name == "continue" && !three.IsEmpty() && c.refuses:
						f.reply(msg.ID, wire.Final, protocol.Group{Kind: protocol.KindFault, Ranks: three, Body: []byte(`{"kind":"gdb","message":"no"}`)})
					default:
						w.answer(f, msg)
					}
				}
				if got := call(t, m, session.Call{Command: "stacks", Ranks: "2-3", Wait: 10 * time.Second}); strings.Contains(got, "stopped") {
					t.Errorf("told:\n%s", got)
				}
				if asked := w.asked(); !strings.HasSuffix(asked, "; continue 2") {
					t.Errorf("asked %s", asked)
				}
				if c.interrupted {
					call(t, m, session.Call{Command: "interrupt", Ranks: "3"})
				}
				w.root.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindStopped, Ranks: rank.Of(3), Body: []byte(`{"reason":"interrupted"}`)}}})
				synctest.Wait()
				if got := strings.HasSuffix(w.asked(), "; continue 3"); got != c.continued {
					t.Errorf("asked %s", w.asked())
				}
				if got := strings.Contains(call(t, m, session.Call{Command: "ranks", Ranks: "3"}), stop); got != c.told {
					t.Errorf("told of the stop: %v", got)
				}
				w.root.up(wire.Message{Kind: wire.Events, Groups: []protocol.Group{{Kind: protocol.KindStopped, Ranks: rank.Of(3), Body: []byte(`{"reason":"interrupted"}`)}}})
				if got := call(t, m, session.Call{Command: "ranks", Ranks: "3"}); !strings.Contains(got, stop) {
					t.Errorf("the next stop is withheld, too: %s", got)
				}
				closeNow(t, m)
			})
		})
	}
}
