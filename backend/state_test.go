package backend

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol"
)

func TestAfter(t *testing.T) {
	const never = State(99)
	for _, c := range []struct {
		name  string
		from  State
		event protocol.Kind
		to    State
	}{
		{"held at its entry", Attaching, protocol.KindStopped, Stopped},
		{"let run at once", Attaching, protocol.KindRunning, Running},
		{"ended while being attached", Attaching, protocol.KindExited, Exited},
		{"resumed", Stopped, protocol.KindRunning, Running},
		{"stopped", Running, protocol.KindStopped, Stopped},
		{"stopped twice", Stopped, protocol.KindStopped, never},
		{"resumed twice", Running, protocol.KindRunning, never},
		{"killed while stopped", Stopped, protocol.KindSignalled, Signalled},
		{"detached while running", Running, protocol.KindDetached, Detached},
		{"lost", Running, protocol.KindLost, Lost},
		{"ended twice", Exited, protocol.KindSignalled, never},
		{"stopped after the end", Lost, protocol.KindStopped, never},
		{"output is no step", Running, protocol.KindStdout, never},
		{"the start is the server's word", Attaching, protocol.KindStarted, never},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.from.After(c.event)
			if ok != (c.to != never) || ok && got != c.to || !ok && got != c.from {
				t.Errorf("%v after %v: %v, %v", c.from, c.event, got, ok)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	for _, c := range []struct {
		name  string
		state State
		need  protocol.Need
		want  string // "": not refused
	}{
		{"print while stopped", Stopped, protocol.NeedStopped, ""},
		{"print while running", Running, protocol.NeedStopped, "the rank is running (interrupt it first)"},
		{"break while running", Running, protocol.NeedAlive, ""},
		{"gdb while running", Running, protocol.NeedNothing, ""},
		{"gdb while attaching", Attaching, protocol.NeedNothing, "not under control yet"},
		{"needs running", Stopped, protocol.NeedRunning, "is stopped"},
		{"print after exit", Exited, protocol.NeedStopped, "has exited"},
		{"print after a signal", Signalled, protocol.NeedStopped, "by a signal"},
		{"kill after detach", Detached, protocol.NeedAlive, "detached"},
		{"gdb after loss", Lost, protocol.NeedNothing, "lost"},
		{"launch again", Stopped, protocol.NeedNew, "already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.state.Refuse(c.need)
			if (f == nil) != (c.want == "") {
				t.Fatalf("got %v", f)
			}
			if f != nil && (f.Kind != protocol.FaultState || !strings.Contains(f.Error(), c.want)) {
				t.Errorf("got %v, want %q", f, c.want)
			}
		})
	}
}

func TestEveryHistoryEndsOnce(t *testing.T) {
	kinds := []protocol.Kind{protocol.KindRunning, protocol.KindStopped, protocol.KindExited, protocol.KindSignalled, protocol.KindDetached, protocol.KindLost}
	rapid.Check(t, func(t *rapid.T) {
		var s State
		var told []protocol.Kind
		for _, k := range rapid.SliceOf(rapid.SampledFrom(kinds)).Draw(t, "events") {
			if next, ok := s.After(k); ok {
				s, told = next, append(told, k)
			}
		}
		for i, k := range told {
			if k.IsEnd() && i != len(told)-1 {
				t.Fatalf("%v after the end in %v", told[i+1], told)
			}
			if i > 0 && k == told[i-1] {
				t.Fatalf("%v twice in a row in %v", k, told)
			}
		}
	})
}
