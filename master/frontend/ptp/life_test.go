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
	return startedWith(t, ofAll(protocol.KindStopped, `{"reason":"entry"}`), scenes...)
}

// ofAll is an event of all ranks.
func ofAll(k protocol.Kind, body string) session.Event {
	return session.NewEvent(protocol.Group{Kind: k, Ranks: rank.Range(0, 3), Body: []byte(body)})
}

// startedWith serves a session whose ranks begin with an event.
func startedWith(t *testing.T, held session.Event, scenes ...sessiontest.Scene) *served {
	t.Helper()
	all := rank.Range(0, 3)
	launched := session.Event{Name: "reply", Group: protocol.Group{Kind: protocol.KindResult, Ranks: all, Body: []byte("{}")}}
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

// Watched ranks count as running for Eclipse: no SUSPEND follows the OK to START SESSION. The stop that
// a debugger brings about for a GO is not reported, for they run on; that for a query is.
func TestWatchedRanks(t *testing.T) {
	reply, attached := ofAll(protocol.KindResult, "{}"), ofAll(protocol.KindStopped, `{"reason":"attached"}`)
	running := ofAll(protocol.KindRunning, "{}")
	scene := func(events ...session.Event) sessiontest.Scene { return sessiontest.Scene{Events: events} }
	s := startedWith(t, ofAll(protocol.KindWatched, "{}"), scene(attached, running, reply), scene(reply))
	s.send(ptp.Go, "4:0f")
	s.hears(`111 0 ["4:0f"]`)
	s.send(ptp.SetFrame, "4:0f", "0")
	s.hears(`111 0 ["4:0f"]`)
	s.send(ptp.Quit)
	s.ends(nil)

	s = startedWith(t, ofAll(protocol.KindWatched, "{}"), scene(attached, reply), scene(reply), scene(reply), scene(reply))
	s.send(ptp.SetFrame, "4:0f", "0")
	s.hears(`111 0 ["4:0f"]`)
	if p := s.next(); p.ID != ptp.EventSuspend || p.Args[0] != "4:0f" {
		t.Errorf("heard %v, want a suspend", p)
	}
	s.send(ptp.Quit)
	s.ends(nil)
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

// The depth that is told is the length of the list of frames, however deep the stack is.
func TestDepthOfTheList(t *testing.T) {
	stack := sessiontest.Scene{Events: []session.Event{ofAll(protocol.KindResult, `{"frames":[{"level":0,"func":"f"}]}`)}}
	launched := sessiontest.Scene{Events: []session.Event{ofAll(protocol.KindResult, "{}"), ofAll(protocol.KindStopped, `{"reason":"entry"}`)}}
	tape := sessiontest.NewTape(launched, stack, stack, stack)
	defer tape.Close(t.Context())
	s := serve(t, 4, func(context.Context) (session.Session, session.Report, error) {
		return tape, session.Report{Servers: 4, Ranks: rank.Range(0, 3)}, nil
	})
	s.send(ptp.Start, "a", "/bin", "/tmp")
	s.hears(`111 0 ["4:0f"]`)
	s.send(ptp.StackDepth, "4:0f")
	s.hears(`116 0 ["4:0f" "1"]`)
	for _, high := range []string{"0", "5000"} {
		s.send(ptp.ListFrames, "4:0f", "0", high)
		s.hears(`105 0 ["4:0f" "1" "0" "" "f" "" "0"]`)
	}
	for _, c := range tape.Calls()[1:] {
		if c.Args.Count != maxDepth {
			t.Errorf("%s of %d frames, want %d", c.Command, c.Args.Count, maxDepth)
		}
	}
	s.send(ptp.Quit)
	s.ends(nil)
}
