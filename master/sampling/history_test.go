package sampling

import (
	"flag"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

var (
	histories = flag.Int("histories", 1000, "number of random histories")
	seed      = flag.Int64("history-seed", 1, "seed of the first")
)

// Whatever happens in whatever order, each call is answered once, and in the end the user knows of
// each rank whether it runs.
func TestHistories(t *testing.T) {
	for i := range *histories {
		h := newHistory(*seed + int64(i))
		if bad := h.play(); bad != "" {
			t.Fatalf("seed %d: %s\n%s", *seed+int64(i), bad, strings.Join(h.log, "\n"))
		}
	}
}

// ranks is the number of ranks of a history.
const ranks = 4

// history is a session with a Sampler: what the ranks do, and what the user is told.
type history struct {
	random *rand.Rand
	now    time.Duration
	s      Sampler
	log    []string

	runs    rank.Set // ranks that run
	ended   rank.Set
	told    rank.Set                   // ranks that run, as the user has been told
	wanted  rank.Set                   // ranks that the user has interrupted last
	crossed rank.Set                   // ranks that the user commanded while events of them were on their way
	touched rank.Set                   // ranks that may be stopped in the end
	queues  [ranks][]func()            // what the ranks have sent and the master has not received
	timers  map[int]time.Duration      // by number
	calls   map[protocol.RequestID]int // number of answers done
}

func newHistory(seed int64) *history {
	all := rank.Range(0, ranks-1)
	h := &history{random: rand.New(rand.NewSource(seed)), runs: all, told: all, timers: map[int]time.Duration{}, calls: map[protocol.RequestID]int{}}
	return h
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) play() string {
	for step := range 60 {
		switch n := h.random.Intn(10); {
		case n == 0 && step < 40:
			h.sample(protocol.RequestID(step + 1))
		case n == 1 && step < 40:
			h.interrupt(h.some())
		case n == 2 && step < 40:
			h.happen(h.anyone())
		case n == 3:
			h.wake()
		case n == 4 && step < 40:
			set := h.some()
			h.note("the user continues %v", set)
			h.wanted = h.wanted.Minus(set)
			h.cross(set)
			h.s.Resume(set)
			h.request("continue", set, func([]session.Event) {})
		default:
			h.receive()
		}
	}
	for h.pending() {
		if !h.receive() {
			h.wake()
		}
	}
	for id, n := range h.calls {
		if n != 1 {
			return fmt.Sprintf("call %d was answered %d times", id, n)
		}
	}
	if !h.told.Equal(h.runs) {
		return fmt.Sprintf("ranks %v run, and the user was told %v", h.runs, h.told)
	}
	if h.wanted.Intersects(h.runs) {
		return fmt.Sprintf("ranks %v run, and the user has interrupted %v", h.runs, h.wanted)
	}
	if stopped := rank.Range(0, ranks-1).Minus(h.runs).Minus(h.touched); !stopped.IsEmpty() {
		return fmt.Sprintf("the samples have left ranks %v stopped", stopped)
	}
	return ""
}

func (h *history) pending() bool {
	return len(h.timers) > 0 || slices.ContainsFunc(h.queues[:], func(q []func()) bool { return len(q) > 0 })
}

func (h *history) anyone() rank.ID { return rank.ID(h.random.Intn(ranks)) }

func (h *history) some() rank.Set {
	var s rank.Set
	for r := range rank.ID(ranks) {
		if h.random.Intn(2) == 0 {
			s = s.Union(rank.Of(r))
		}
	}
	return s.Union(rank.Of(h.anyone()))
}

func (h *history) sample(id protocol.RequestID) {
	c := Call{ID: id, Ranks: h.some(), Args: protocol.Args{Samples: h.random.Intn(3)}, Wait: 10 * time.Second}
	h.begins()
	out, busy := h.s.Begin(h.now, c, h.told)
	h.note("stacks #%d of %v, %d samples, refused: %v", id, c.Ranks, c.Args.Samples, busy != nil)
	if busy == nil {
		h.calls[id] = 0
	}
	h.carry(out)
}

// cross notes ranks of which events are on their way while the user commands them: whose stop the next one is cannot
// be told.
func (h *history) cross(set rank.Set) {
	for r := range set.All() {
		if len(h.queues[r]) > 0 {
			h.crossed = h.crossed.Union(rank.Of(r))
		}
	}
}

// begins must be called before samples begin.
func (h *history) begins() { h.wanted = h.wanted.Minus(h.crossed) }

func (h *history) interrupt(set rank.Set) {
	h.note("the user interrupts %v", set)
	h.cross(set)
	h.wanted, h.touched = h.wanted.Union(set), h.touched.Union(set)
	for _, call := range h.s.calls() { // its ranks remain as they are
		h.touched = h.touched.Union(call.asked)
	}
	h.carry(h.s.Interrupt(h.now, set))
	h.request("interrupt", set, func([]session.Event) {})
}

// happen makes a rank stop at a breakpoint, or end.
func (h *history) happen(r rank.ID) {
	if !h.runs.Contains(r) {
		return
	}
	h.runs, h.touched = h.runs.Minus(rank.Of(r)), h.touched.Union(rank.Of(r))
	if h.random.Intn(4) == 0 {
		h.ended = h.ended.Union(rank.Of(r))
		h.send(r, protocol.KindExited, `{"code":0}`)
		return
	}
	h.send(r, protocol.KindStopped, `{"reason":"breakpoint-hit"}`)
}

// send queues an event of a rank.
func (h *history) send(r rank.ID, k protocol.Kind, body string) {
	h.queues[r] = append(h.queues[r], func() {
		h.note("  rank %d: %v %s", r, k, body)
		g, some, out := h.s.Filter(h.now, protocol.Group{Kind: k, Ranks: rank.Of(r), Body: []byte(body)})
		h.carry(out)
		if some {
			h.report(g)
		}
	})
}

func (h *history) report(g protocol.Group) {
	h.note("    told: %v %v", g.Kind, g.Ranks)
	if g.Kind == protocol.KindRunning {
		h.told = h.told.Union(g.Ranks)
	} else {
		h.told = h.told.Minus(g.Ranks)
	}
}

// wake lets time pass until the next timer is over.
func (h *history) wake() {
	numbers := make([]int, 0, len(h.timers))
	for n := range h.timers {
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 {
		return
	}
	slices.Sort(numbers)
	n := numbers[0]
	h.now = max(h.now, h.timers[n])
	delete(h.timers, n)
	h.note("timer %d", n)
	h.begins()
	h.carry(h.s.Wake(h.now, n, h.told))
}

// receive processes what a rank has sent.
func (h *history) receive() bool {
	first := h.anyone()
	for i := range rank.ID(ranks) {
		r := (first + i) % ranks
		if q := h.queues[r]; len(q) > 0 {
			h.queues[r] = q[1:]
			q[0]()
			return true
		}
	}
	return false
}

func (h *history) carry(out []Output) {
	for _, o := range out {
		switch o := o.(type) {
		case Ask:
			h.request(o.Command, o.Ranks, func(answers []session.Event) {
				if h.random.Intn(20) == 0 && !slices.ContainsFunc(answers, refused) {
					h.note("  a defect")
					h.touched = rank.Range(0, ranks-1)
					h.carry(o.Fail(h.now, &protocol.Fault{Kind: protocol.FaultInternal}))
					return
				}
				h.carry(o.Then(h.now, answers, session.Done{Asked: o.Ranks.Len(), Answered: o.Ranks.Len()}))
			})
		case Timer:
			h.timers[o.Number] = h.now + o.After
		case Report:
			h.report(o.Group)
		case Answer:
			if o.Event.Done != nil {
				h.note("    done #%d", o.Event.ID)
				h.calls[o.Event.ID]++
			}
		}
	}
}

// request asks ranks. Each executes the command at once, and what it sends is received later, in
// order; some are reported as missing before.
func (h *history) request(name string, set rank.Set, then func([]session.Event)) {
	h.note("  %s %v", name, set)
	if set.IsEmpty() {
		then(nil)
		return
	}
	var answers []session.Event
	owed := set
	answer := func(r rank.ID, g protocol.Group) {
		if !owed.Contains(r) {
			return // it was missing
		}
		g.Ranks = rank.Of(r)
		answers = append(answers, session.NewEvent(g))
		if owed = owed.Minus(g.Ranks); owed.IsEmpty() {
			then(answers)
		}
	}
	for r := range set.All() {
		g := h.execute(name, r)
		h.queues[r] = append(h.queues[r], func() { answer(r, g) })
		if name == "interrupt" && h.runs.Contains(r) {
			h.runs = h.runs.Minus(rank.Of(r))
			h.send(r, protocol.KindStopped, `{"reason":"interrupted"}`)
		}
	}
	if missing := h.anyone(); name == "interrupt" && h.random.Intn(4) == 0 && set.Contains(missing) {
		h.note("  rank %d is missing", missing)
		answer(missing, protocol.Group{Kind: protocol.KindMissing, Body: []byte(`{"cause":"no answer"}`)})
	}
}

// refused reports whether gdb has refused a command.
func refused(e session.Event) bool { return strings.Contains(string(e.Group.Body), `"kind":"gdb"`) }

// execute returns the answer of a rank.
func (h *history) execute(name string, r rank.ID) protocol.Group {
	set := rank.Of(r)
	g := protocol.Group{Kind: protocol.KindResult, Body: []byte("{}")}
	switch {
	case h.ended.Contains(r), name == "continue" && h.runs.Contains(r):
		g.Kind, g.Body = protocol.KindFault, []byte(`{"kind":"state"}`)
	case name == "continue" && h.random.Intn(8) == 0:
		g.Kind, g.Body = protocol.KindFault, []byte(`{"kind":"gdb","message":"no"}`)
		h.touched = h.touched.Union(set)
	case name == "continue":
		h.runs = h.runs.Union(set)
		h.send(r, protocol.KindRunning, "{}")
	case name == "stacks" && h.runs.Contains(r):
		g.Kind = protocol.KindFault
	case name == "stacks":
		g.Stack = stack.Of(set, []stack.Frame{{Func: "main", Line: h.random.Intn(3)}})
	}
	return g
}
