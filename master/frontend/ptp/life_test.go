package ptp

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// started serves a session of four ranks after START SESSION. Its calls play the scenes.
func started(t *testing.T, scenes ...sessiontest.Scene) *served {
	t.Helper()
	all := rank.Range(0, 3)
	launched := session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: all, Body: []byte("{}")}}
	held := session.Event{Name: "stopped", Group: protocol.Group{Kind: protocol.KindStopped, Ranks: all, Body: []byte(`{"reason":"entry"}`)}}
	tape := sessiontest.NewTape(append([]sessiontest.Scene{{Events: []session.Event{launched, held}}}, scenes...)...)
	t.Cleanup(func() { tape.Close(context.Background()) })
	s := serve(t, 4, func(context.Context) (session.Session, session.Report, error) {
		return tape, session.Report{Servers: 4, Ranks: all}, nil
	})
	s.send(ptp.Start, "a", "/bin", "/tmp")
	s.hears(`111 0 ["4:0f"]`)
	return s
}

func (s *served) hears(want string) {
	s.t.Helper()
	if got := s.next().String(); got != want {
		s.t.Fatalf("heard %s, want %s", got, want)
	}
}

// Between Eclipse's commands 8 and 9 output is held, and answers are not.
func TestHeldOutput(t *testing.T) {
	say := session.Event{Name: "output", Group: protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(2), Body: []byte("one\n")}}
	frame := session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 3), Body: []byte("{}")}}
	s := started(t, sessiontest.Scene{Events: []session.Event{say, say, frame}}, sessiontest.Scene{Events: []session.Event{frame}})
	s.send(holdEvents)
	s.send(ptp.Go, "4:0f")
	s.hears(`111 0 ["4:0f"]`)
	s.send(ptp.SetFrame, "4:0f", "0")
	s.hears(`111 0 ["4:0f"]`)
	s.send(resumeEvents)
	s.hears(`110 0 ["4:04" "one\none\n"]`)
	s.send(ptp.Quit)
	s.ends(nil)
}

// QUIT sends held output.
func TestHeldOutputAtTheEnd(t *testing.T) {
	say := session.Event{Name: "output", Group: protocol.Group{Kind: protocol.KindStdout, Ranks: rank.Of(2), Body: []byte("one\n")}}
	frame := session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 3), Body: []byte("{}")}}
	s := started(t, sessiontest.Scene{Events: []session.Event{say, frame}})
	s.send(holdEvents)
	s.send(ptp.Go, "4:0f")
	s.hears(`111 0 ["4:0f"]`)
	s.send(ptp.Quit)
	s.hears(`110 0 ["4:04" "one\n"]`)
	if _, err := s.eclipse.Next(); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after QUIT: %v", err)
	}
	s.ends(nil)
}

// gdb is not given expressions of megabytes, on which it ends. The refusal is a value: an ERROR
// would cost the values of other ranks.
func TestLongArguments(t *testing.T) {
	s := started(t)
	s.send(ptp.Evaluate, "4:0f", strings.Repeat("1+", 2<<20)+"1")
	p := s.next()
	if p.ID != ptp.EventData || p.Args[0] != "4:0f" || p.Args[1] != "s" {
		t.Errorf("heard %.200v", p)
	}
	s.send(ptp.GetType, "4:0f", strings.Repeat("1+", maxText))
	s.hears(`112 0 ["4:0f" "3" "GET TYPE: an argument of 131072 bytes; there may be 65536"]`)
	s.send(ptp.Quit)
	s.ends(nil)
}
