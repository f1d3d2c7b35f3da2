package sim

import (
	"testing"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"

	"pgregory.net/rapid"
)

// witness is a Sink that checks the contract of a back end: each event is possible in the rank's
// state, and the running event precedes the answer to the command that resumes the rank.
type witness struct {
	t        *rapid.T
	state    map[rank.ID]backend.State
	resumers map[protocol.RequestID]bool
	ran      map[rank.ID]int // number of running events
	answered map[rank.ID]int // number of resuming commands that were executed
}

func (w *witness) Reply(id protocol.RequestID, groups ...protocol.Group) {
	for _, g := range groups {
		for r := range g.Ranks.All() {
			if !w.resumers[id] || g.Kind != protocol.KindResult {
				continue
			}
			if w.answered[r]++; w.ran[r] < w.answered[r] {
				w.t.Fatalf("rank %d has answered %d resuming commands and said %d times that it runs", r, w.answered[r], w.ran[r])
			}
		}
	}
}

func (w *witness) Event(groups ...protocol.Group) {
	for _, g := range groups {
		for r := range g.Ranks.All() {
			if g.Kind == protocol.KindRunning {
				w.ran[r]++
			}
			next, ok := w.state[r].After(g.Kind)
			if g.Kind != protocol.KindStdout && !ok {
				w.t.Fatalf("%v: rank %d was %v", g, r, w.state[r])
			}
			w.state[r] = next
		}
	}
}

// TestRunningComesBeforeTheAnswer checks that the running event precedes the answer to the
// resuming command, whatever is delayed.
func TestRunningComesBeforeTheAnswer(t *testing.T) {
	names := []string{"continue", "next", "step", "until", "finish", "interrupt", "print", "kill"}
	rapid.Check(t, func(t *rapid.T) {
		clock := &handClock{now: time.Unix(0, 0)}
		slow := func(what string) func(rank.ID, int) time.Duration {
			unit := rapid.IntRange(0, 3).Draw(t, what)
			return func(r rank.ID, _ int) time.Duration { return time.Duration(unit*int(r)) * time.Millisecond }
		}
		w := &witness{t: t, state: map[rank.ID]backend.State{}, ran: map[rank.ID]int{}, answered: map[rank.ID]int{}}
		w.resumers = map[protocol.RequestID]bool{1: true}
		b := New(Config{Output: "%r\n", Clock: clock, RunTime: slow("run"), AnswerTime: slow("answer")}, w)
		b.Attach(1, held(rank.Range(0, 3)), "main", 0)
		for id := range protocol.RequestID(rapid.IntRange(0, 20).Draw(t, "commands")) {
			name := rapid.SampledFrom(names).Draw(t, "name")
			w.resumers[id+2] = name != "interrupt" && name != "print" && name != "kill"
			low := rank.ID(rapid.IntRange(0, 3).Draw(t, "rank"))
			b.Do(command(id+2, rank.Range(low, 3), name, protocol.Args{Expr: "rank"}))
			clock.advance(time.Duration(rapid.IntRange(0, 12).Draw(t, "ms")) * time.Millisecond)
		}
		clock.advance(time.Second)
	})
}
