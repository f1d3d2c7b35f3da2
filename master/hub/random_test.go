package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// TestRandomFrontEnds lets front ends join, leave, break, read slowly and command at random, and compares what each
// has got with a log of everything, in which nothing is ever bounded. They resume ranks, set and delete breakpoints
// and quit; each must know in the end what the ranks do and which breakpoints there are, as a front end alone would.
func TestRandomFrontEnds(t *testing.T) {
	for seed := range max(30, *manySeeds) {
		synctest.Test(t, func(t *testing.T) { randomFrontEnds(t, uint64(seed)) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// frontEnd is one front end of the random test, and all that it has got.
type frontEnd struct {
	*View
	got   []session.Event
	asked map[protocol.RequestID]bool // done has come
	from  uint64                      // the cursor at which it joined
	over  bool                        // its events have ended
}

func (f *frontEnd) read(n int) {
	for range n {
		synctest.Wait()
		select {
		case e, ok := <-f.Events():
			if !ok {
				f.over = true
				return
			}
			f.got = append(f.got, e)
		default:
			return
		}
	}
}

func randomFrontEnds(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	x := &echo{stream: session.NewStream(), random: r, all: ranks(t, "0-7")}
	refused := map[*frontEnd]bool{} // its quit
	var log []session.Event         // everything that concerns everybody
	h := New(Config{Session: x, Ranks: ranks(t, "0-7"), Kept: []int{1 << 20, 8 * perEvent}[r.IntN(2)], Observe: func(e session.Event) {
		if e.Cursor != 0 {
			log = append(log, e)
		}
	}})
	var there, gone []*frontEnd
	cursors := []uint64{}
	for range 60 + r.IntN(60) {
		synctest.Wait()
		f, k := pick(r, there), r.IntN(10)
		switch {
		case k < 2 && len(there) < 5 && x.over:
			if _, err := h.Join(protocol.FrontEnd{Name: "f"}, nil); err != ErrOver {
				t.Fatalf("who joins after the end gets %v", err)
			}
		case k < 2 && len(there) < 5:
			var cursor *uint64
			from := h.seen
			if len(cursors) > 0 && r.IntN(2) == 0 {
				from = cursors[r.IntN(len(cursors))]
				cursor = &from
			}
			v, err := h.Join(protocol.FrontEnd{Name: "f"}, cursor)
			if err != nil {
				t.Fatal(err)
			}
			w := v.Welcome()
			if from >= h.record.first && w.Cursor != from {
				t.Fatalf("joined at %d, not at %d", w.Cursor, from)
			}
			there = append(there, &frontEnd{View: v, asked: map[protocol.RequestID]bool{}, from: w.Cursor})
		case k == 2 && f != nil:
			f.read(r.IntN(50))
			f.leave("left", nil)
			cursors = append(cursors, f.from)
			for _, e := range f.got {
				cursors[len(cursors)-1] = max(cursors[len(cursors)-1], e.Cursor)
			}
			if last := cursors[len(cursors)-1]; len(there) == 1 && f.missed == 0 && h.seen > last+1 {
				t.Fatalf("the last one has seen %d, and %d counts as seen", last, h.seen)
			}
			gone = append(gone, f)
			there = remove(there, f)
		case k < 5 && f != nil:
			c := session.Call{Command: []string{"print", "continue", "interrupt", "break", "delete"}[r.IntN(5)]}
			if r.IntN(40) == 0 {
				c.Command = "quit"
			}
			id, err := f.Do(context.Background(), c)
			switch {
			case x.over && err == ErrOver:
				continue
			case err != nil && c.Command == "quit" && len(there) > 1 && !refused[f]:
				refused[f] = true
				continue
			case err != nil:
				t.Fatal(err)
			case c.Command == "quit" && len(there) > 1 && !refused[f]:
				t.Fatalf("the first quit of one of %d ends the session", len(there))
			}
			f.asked[id] = false
		case k < 8:
			if !x.over {
				x.stream.Push(randomEvent(t, r))
			}
		case f != nil:
			f.read(r.IntN(20))
		}
	}
	synctest.Wait()
	for range 3 { // who has fallen behind gets a gap once it reads
		for _, f := range there {
			f.read(1 << 20)
		}
	}
	for _, f := range append(there, gone...) {
		f.check(t, log)
	}
	for _, f := range there {
		for id, done := range f.asked {
			if !done {
				t.Errorf("request %d has no done", id)
			}
		}
		if f.over != x.over {
			t.Errorf("the session is over: %v, its events have ended: %v", x.over, f.over)
		}
		last := f.from
		for _, e := range f.got {
			last = max(last, e.Cursor)
		}
		if last != uint64(len(log)) {
			t.Errorf("the last event of %d came to %d", len(log), last)
		}
	}
	if got := pointsOf(log); got != x.pointsText() {
		t.Errorf("the events tell of breakpoints %s, and there are %s", got, x.pointsText())
	}
	x.stream.End(context.Background())
	h.Wait()
}

// pointsOf returns the numbers of the breakpoints that the events tell of.
func pointsOf(log []session.Event) string {
	there := map[int]bool{}
	for _, e := range log {
		var c protocol.PointsChange
		if e.Group.Kind != protocol.KindPoints || json.Unmarshal(e.Group.Body, &c) != nil {
			continue
		}
		for _, n := range c.Numbers {
			there[n] = c.Change == "added"
		}
	}
	maps.DeleteFunc(there, func(_ int, is bool) bool { return !is })
	return fmt.Sprint(slices.Sorted(maps.Keys(there)))
}

// check compares what a front end has got with the log.
func (f *frontEnd) check(t *testing.T, log []session.Event) {
	next, snapshot := f.from+1, session.NewStates(rank.Set{})
	var jump bool
	for _, e := range f.got {
		switch {
		case e.IsAnswer():
			if done, mine := f.asked[e.ID]; !mine || done {
				t.Errorf("an answer to request %d came", e.ID)
			}
			f.asked[e.ID] = e.Done != nil
		case e.Group.Kind == protocol.KindGap:
			snapshot, jump = session.NewStates(rank.Set{}), true
		case e.Cursor == 0:
			snapshot.Feed(e)
		default:
			if jump {
				next, jump = e.Cursor, false
			}
			if e.Cursor != next {
				t.Errorf("event %d came in place of %d", e.Cursor, next)
				return
			}
			if got, want := string(e.AppendJSON(nil)), string(log[e.Cursor-1].AppendJSON(nil)); got != want {
				t.Errorf("event %d is %s, not %s", e.Cursor, got, want)
			}
			if snapshot != nil {
				then := session.NewStates(rank.Set{})
				for _, e := range log[:e.Cursor-1] {
					then.Feed(e)
				}
				if got, want := statesText(snapshot), statesText(then); got != want {
					t.Errorf("the snapshot before event %d is %s, not %s", e.Cursor, got, want)
				}
				snapshot = nil
			}
			next++
		}
		if snapshot == nil && e.Cursor == 0 && !e.IsAnswer() && e.Group.Kind != protocol.KindGap {
			t.Errorf("%s came outside of a snapshot", e.AppendJSON(nil))
		}
	}
}

func statesText(s *session.States) string {
	var b strings.Builder
	for _, g := range s.Groups(s.All()) {
		fmt.Fprintf(&b, "%s %s; ", g.Ranks, canonical.JSON(g.Status))
	}
	return b.String()
}

func pick(r *rand.Rand, all []*frontEnd) *frontEnd {
	if len(all) == 0 {
		return nil
	}
	return all[r.IntN(len(all))]
}

func remove(all []*frontEnd, one *frontEnd) []*frontEnd {
	var rest []*frontEnd
	for _, f := range all {
		if f != one {
			rest = append(rest, f)
		}
	}
	return rest
}

func randomEvent(t testing.TB, r *rand.Rand) session.Event {
	set := fmt.Sprintf("%d-%d", r.IntN(4), 4+r.IntN(4))
	switch r.IntN(6) {
	case 0:
		return event(t, protocol.KindRunning, set, "{}")
	case 1:
		return event(t, protocol.KindStopped, set, fmt.Sprintf(`{"reason":"r%d"}`, r.IntN(3)))
	case 2:
		return event(t, protocol.KindExited, set, `{"code":0}`)
	case 3:
		return event(t, protocol.KindLost, set, `{"cause":"gone"}`)
	}
	return event(t, protocol.KindStdout, set, strings.Repeat("x", []int{1, 10, 10, 200_000}[r.IntN(4)])+"\n")
}

// echo is a session that carries out each call at once: the ranks run, stop, and have breakpoints.
type echo struct {
	stream *session.Stream
	random *rand.Rand
	all    rank.Set
	last   protocol.RequestID
	points []int
	made   int
	over   bool
}

func (x *echo) Do(_ context.Context, c session.Call) (protocol.RequestID, error) {
	x.last++
	tell := func(kind protocol.Kind, body string) {
		x.stream.Push(session.NewEvent(protocol.Group{Kind: kind, Ranks: x.all, Body: []byte(body)}))
	}
	answer := func(body string) {
		e := session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: x.all, Body: []byte(body)})
		e.ID, e.Command = x.last, c.Command
		x.stream.Push(e)
	}
	switch c.Command {
	case "continue":
		tell(protocol.KindRunning, "{}")
	case "interrupt":
		tell(protocol.KindStopped, `{"reason":"interrupted"}`)
	case "break":
		x.made++
		x.points = append(x.points, x.made)
		answer(fmt.Sprintf(`{"breakpoints":[{"number":%d,"type":"breakpoint","enabled":true,"location":"f"}]}`, x.made))
	case "delete":
		if len(x.points) > 0 {
			i := x.random.IntN(len(x.points))
			answer(fmt.Sprintf(`{"deleted":[%d]}`, x.points[i]))
			x.points = slices.Delete(x.points, i, i+1)
		}
	}
	x.stream.Push(session.Event{Name: session.DoneName, ID: x.last, Command: c.Command, Done: &session.Done{}})
	if c.Command == "quit" {
		x.over = true
		go x.stream.End(context.Background()) // it ends with the test
	}
	return x.last, nil
}

func (x *echo) pointsText() string { return fmt.Sprint(x.points) }

func (x *echo) Events() <-chan session.Event { return x.stream.Events() }

func (x *echo) Close(ctx context.Context) error {
	x.stream.End(ctx)
	return nil
}
