// A panic costs only the ranks of one gdb.

package gdb

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// heard is a backend.Sink that keeps lines.
type heard []string

func (h *heard) Reply(id protocol.RequestID, groups ...protocol.Group) {
	for _, g := range groups {
		*h = append(*h, fmt.Sprint(id, " ", g))
	}
}

func (h *heard) Event(groups ...protocol.Group) { h.Reply(0, groups...) }

// TestPanicAnywhere checks, for panics in all inputs of a machine, that the ranks of
// its gdb are lost, that each request is answered once, and that the rank of the other
// gdb is not affected.
func TestPanicAnywhere(t *testing.T) {
	// A machine without a debugger panics at every input.
	inputs := map[string]func(l *loop, k *gdbProcess){
		"do": func(l *loop, k *gdbProcess) {
			l.do(backend.Request{ID: 8, Ranks: rank.Of(0), Command: &protocol.Command{Name: "print"}})
		},
		"ended":    func(l *loop, k *gdbProcess) { l.ended(0, protocol.Exit{}) },
		"close":    func(l *loop, k *gdbProcess) { k.close(l) },
		"started":  func(l *loop, k *gdbProcess) { l.started(k, nil, context.Canceled) },
		"tick":     func(l *loop, k *gdbProcess) { l.next, l.began = 1, l.began.Add(-time.Hour); l.tick() },
		"vanished": func(l *loop, k *gdbProcess) { l.guard(k, func() { k.entries[0].machine.TargetEnded(1) }) },
		"record":   func(l *loop, k *gdbProcess) { l.guard(k, func() { k.parser.Feed([]byte("*stopped\n"), recordTo(k)) }) },
		"died": func(l *loop, k *gdbProcess) {
			l.guard(k, func() { k.debugger.Died(1, debugger.End{Cause: "a test"}, false) })
		},
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			var said heard
			var log bytes.Buffer
			e := &Engine{cfg: Config{Log: slog.New(slog.NewTextHandler(&log, nil))}}
			l := newLoop(e, &said)
			defer l.forker.close()
			k, other := bareKeeper(l, 0, 1), bareKeeper(l, 2)
			for _, s := range l.entries {
				s.machine.Open = []*request.Request{{Command: &request.Command{Name: "print"}, ID: 7}}
			}
			k.entries[0].machine.Open[0].Deadline = time.Minute
			k.entries[0].machine.GDB = nil
			input(l, k)
			l.applyOutputs()
			l.do(backend.Request{ID: 9, Ranks: rank.Range(0, 2), Command: &protocol.Command{Name: "info threads"}})
			l.applyOutputs()
			l.sendMessages()
			text := strings.Join(said, "\n")
			for _, r := range []string{"[0]", "[1]"} {
				end := "0 lost "
				if name == "ended" && r == "[0]" {
					end = "0 exited " // it was reported before
				}
				for _, want := range []string{"7 error ", end, "9 error "} {
					if n := strings.Count("\n"+text, "\n"+want+r); n != 1 {
						t.Errorf("%q of %s comes %d times:\n%s", want, r, n, text)
					}
				}
			}
			if name == "do" && strings.Count("\n"+text, "\n8 error [0]") != 1 {
				t.Errorf("who asked when it happened has no answer:\n%s", text)
			}
			if len(other.entries[0].machine.Open) != 2 || slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "[2]") }) {
				t.Errorf("the other gdb is concerned:\n%s", text)
			}
			if !strings.Contains(log.String(), "a defect of sdm") || !strings.Contains(log.String(), "goroutine") || !strings.Contains(log.String(), "ranks=0-1") {
				t.Errorf("the log says %q", log.String())
			}
		})
	}
}

func recordTo(k *gdbProcess) func(mi.Record) {
	return func(r mi.Record) { k.debugger.Record(1, r) }
}

// bareKeeper makes a gdb that is never started; its ranks are stopped.
func bareKeeper(l *loop, ranks ...rank.ID) *gdbProcess {
	k := l.newGDBProcess(len(ranks))
	k.waiting = true
	for _, r := range ranks {
		l.last++
		s := &rankEntry{number: l.last, machine: debugger.NewMachine(backend.Target{Rank: r}, debugger.Host{}), target: &inferior.Process{FD: -1}, gdb: k}
		s.machine.State = backend.Stopped
		k.entries = append(k.entries, s)
		k.debugger.Add(s.machine)
		l.entries[s.number], l.ranks[r] = s, s
	}
	return k
}
