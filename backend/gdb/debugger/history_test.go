package debugger

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// A history is a random sequence of inputs for one gdb and its ranks: commands, gdb's
// output, time, ends. Each line of gdb is well-formed, and mostly fits the command that
// it answers. The invariants are:
//
//   - nothing panics;
//   - each rank answers a request once, at the latest at the end;
//   - an event is possible in the state that was reported before.
type history struct {
	t        *testing.T
	bytes    []byte // random choices; the history ends when they are used up
	d        *Debugger
	machines []*Machine
	now      time.Duration
	tokens   []sent // commands that gdb has not answered
	last     protocol.RequestID
	asked    map[answerTo]int // number of answers so far
	states   map[rank.ID]backend.State
	reads    []*values.MemoryRead
	log      []string
}

type answerTo struct {
	id   protocol.RequestID
	rank rank.ID
}

func FuzzHistory(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(randomHistory(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) { playHistory(t, b) })
}

var (
	histories   = flag.Uint64("histories", 200, "random histories of a gdb to play")
	historySeed = flag.Uint64("history-seed", 0, "seed of the first of them; a failure tells its own")
)

// TestHistories plays random histories.
func TestHistories(t *testing.T) {
	for seed := *historySeed; seed < *historySeed+*histories; seed++ {
		if !t.Run(fmt.Sprintf("-history-seed=%d", seed), func(t *testing.T) { playHistory(t, randomHistory(seed)) }) {
			break // one is enough to look at
		}
	}
}

func randomHistory(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, 200+r.IntN(1500))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func playHistory(t *testing.T, b []byte) {
	h := &history{t: t, bytes: b, asked: map[answerTo]int{}, states: map[rank.ID]backend.State{}}
	defer func() {
		if why := recover(); why != nil {
			t.Fatalf("history:\n%s\npanic: %v\n%s", h.tail(), why, debug.Stack())
		}
	}()
	h.begin()
	for len(h.bytes) > 0 && !t.Failed() {
		h.step()
	}
	h.end()
	if t.Failed() {
		t.Logf("history:\n%s", h.tail())
	}
}

func (h *history) tail() string {
	return strings.Join(h.log[max(len(h.log)-120, 0):], "\n")
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

// below chooses a number from 0 to n-1.
func (h *history) below(n int) int {
	if len(h.bytes) == 0 {
		return 0
	}
	c := h.bytes[0]
	h.bytes = h.bytes[1:]
	return int(c) % n
}

func (h *history) oneOf(list ...string) string { return list[h.below(len(list))] }

// begin attaches to one rank, or to three that share a gdb.
func (h *history) begin() {
	n := 1 + 2*h.below(2)
	kind := h.below(4)
	h.d = New(n)
	h.d.DefersSymbols = kind == 1
	for i := range n {
		target := backend.Target{Rank: rank.ID(i), PID: 100 + i, Held: kind == 0}
		if kind == 3 && h.below(4) == 0 {
			target.Core = "core"
		}
		if h.below(4) == 0 {
			target.Before = []protocol.Command{{Name: "break", Args: protocol.Args{Location: "main", Breakpoint: 7}}, {Name: "display", Args: protocol.Args{Expr: "x", Display: 1}}}
		}
		m := NewMachine(target, Host{Sources: values.Sources{Read: h.source}})
		m.Host.MPI = func(int) bool { return h.below(2) == 0 }
		m.Host.Libraries = func(int) []inferior.Span { return []inferior.Span{{First: 0x7f0000000000, End: 0x7f0000010000}} }
		m.Record.Wanted = n == 1 && kind == 2 && h.below(3) == 0
		m.Target.AllStop = m.Record.Wanted
		h.machines = append(h.machines, m)
		h.d.Add(m)
	}
	h.d.Eager = h.below(8) == 0
	stop := h.oneOf("main", "entry", "none", "f.c:7")
	id := h.request()
	for _, m := range h.machines {
		h.asked[answerTo{id, m.Target.Rank}] = 0
		m.Start(h.now, id, stop, time.Duration(h.below(2))*time.Minute, h.below(2) == 0)
	}
	h.settle()
	if h.below(8) > 0 { // the regular case
		for i, m := range h.machines {
			h.honest()
			h.gdb(fmt.Sprintf(`=thread-group-started,id="%s",pid="%d"`, m.threadGroup, m.Target.PID))
			h.gdb(fmt.Sprintf(`=thread-created,id="%d",group-id="%s"`, i+1, m.threadGroup))
			h.gdb(fmt.Sprintf(`*stopped,frame=%s,thread-id="%d",stopped-threads=["%d"]`, frame0, i+1, i+1))
		}
		for range 40 {
			h.honest()
		}
	}
}

func (h *history) source(_ string, first, last int) ([]string, error) {
	if h.below(3) == 0 {
		return nil, errors.New("no files here")
	}
	return slices.Repeat([]string{"a line"}, max(min(last-first+1, 100), 0)), nil
}

func (h *history) request() protocol.RequestID {
	h.last++
	return h.last
}

// step performs one random input.
func (h *history) step() {
	m := h.machines[h.below(len(h.machines))]
	switch n := h.below(64); {
	case n < 16:
		h.command(m)
	case n < 36:
		h.honest()
	case n < 38:
		h.answer(h.below(4), h.oneOf(payloads...))
	case n < 41:
		h.answer(0, `error,msg="`+h.oneOf(refusals...)+`"`)
	case n < 58:
		h.gdb(h.tells())
	case n < 60:
		h.now += []time.Duration{time.Millisecond, 300 * time.Millisecond, 3 * time.Second, time.Hour}[h.below(4)]
		h.note("tick %v", h.now)
		h.d.Tick(h.now)
	case n == 60 && len(h.reads) > 0:
		o := h.reads[0]
		h.reads = h.reads[1:]
		h.note("memory has been read")
		o.Then(make([]uint64, len(o.Blocks)), nil)
		h.settleAll()
	case n == 61 && h.below(6) == 0:
		h.note("vanished %d", m.Target.Rank)
		m.TargetEnded(h.now)
	case n == 62 && h.below(6) == 0:
		h.note("ended %d", m.Target.Rank)
		m.Ended(h.now, protocol.Exit{Code: h.below(3)})
	case n == 63 && h.below(6) == 0:
		h.dies(h.below(2) == 0)
	}
	h.settle()
}

func (h *history) settleAll() {
	for _, m := range h.machines {
		m.settle()
	}
}

// dies ends gdb; other gdbs may take over its ranks, one each.
func (h *history) dies(another bool) {
	h.note("gdb dies, another: %v", another)
	orphans := h.d.Died(h.now, End{Cause: "killed", Crashed: true}, another)
	h.tokens = nil
	if len(orphans) == 0 {
		return
	}
	// The history continues with the first of them. The others get gdbs that write
	// nothing.
	for i := len(orphans) - 1; i >= 0; i-- {
		d := New(1)
		d.Add(orphans[i])
		orphans[i].TakeOver(h.now)
		if h.take(orphans[i]); i > 0 {
			d.Died(h.now, End{Cause: "killed", Crashed: true}, false)
			h.take(orphans[i])
			continue
		}
		h.d = d
	}
}

// settle takes the effects and checks the invariants.
func (h *history) settle() {
	for _, m := range h.machines {
		h.take(m)
	}
	for line := range strings.Lines(string(h.d.Take())) {
		line = strings.TrimSuffix(line, "\n")
		h.note("> %s", line)
		digits := strings.IndexByte(line, '-')
		h.tokens = append(h.tokens, sent{line[:digits], line[digits:]})
	}
	if h.d.Kill {
		h.d.Kill = false
		h.dies(false)
		h.settle()
	}
	h.d.Deadline()
}

func (h *history) take(m *Machine) {
	for _, s := range m.Out.Messages {
		h.note("%d %s", s.Request, s.Group)
		if s.Request == 0 {
			h.event(m, s.Group)
			continue
		}
		to := answerTo{s.Request, m.Target.Rank}
		n, ok := h.asked[to]
		if h.asked[to]++; n > 0 || !ok {
			h.t.Errorf("request %d was answered %d times by rank %d", s.Request, n+1, m.Target.Rank)
		}
		if k := s.Group.Kind; k != protocol.KindResult && k != protocol.KindFault {
			h.t.Errorf("the answer to request %d is %v", s.Request, k)
		}
	}
	h.reads = append(h.reads, m.Out.Reads...)
	m.Out = Effects{}
}

func (h *history) event(m *Machine, g protocol.Group) {
	if g.Kind.IsInformational() {
		return
	}
	next, ok := h.states[m.Target.Rank].After(g.Kind)
	if !ok {
		h.t.Errorf("rank %d: %v comes in the state %v", m.Target.Rank, g.Kind, h.states[m.Target.Rank])
	}
	h.states[m.Target.Rank] = next
}

// command gives a random command to one rank or to all.
func (h *history) command(m *Machine) {
	all := []*Machine{m}
	if h.below(3) == 0 {
		all = h.machines
	}
	c := h.anyCommand()
	shared := &request.Command{Name: c.Name, Args: c.Args}
	id := h.request()
	wait := []time.Duration{0, time.Second, time.Minute}[h.below(3)]
	for _, m := range all {
		h.note("do %d rank %d %s %+v", id, m.Target.Rank, c.Name, c.Args)
		h.asked[answerTo{id, m.Target.Rank}] = 0
		h.d.Asked = rank.Range(0, rank.ID(len(all)-1))
		m.Do(h.now, id, wait, shared)
	}
}

func (h *history) anyCommand() protocol.Command {
	var names []string
	for _, c := range protocol.Commands {
		if c.Place == protocol.AtTarget {
			names = append(names, c.Name)
		}
	}
	names = append(names, "continue", "continue", "next", "interrupt", "interrupt", "step", "thread apply", "hash", "print")
	name := h.oneOf(names...)
	if (name == "kill" || name == "detach") && h.below(8) > 0 {
		name = "print"
	}
	few := func() int { return h.below(5) - 1 }
	a := protocol.Args{
		Expr: h.oneOf("x", "a[1]", "*p", "f(3)", "$i", "", "a@3", "/x y"), Location: h.oneOf("main", "f.c:7", "7", "", "*0x10", "main if x"),
		Text:      h.oneOf("info threads", "shell true", "thread 2", "set scheduler-locking on", "handle SIGCONT stop", "-exec-continue", "-break-list", "", "delete", "run", "set var $i = 1", "-thread-info"),
		Condition: h.oneOf("", "", "x > 1", ")"), Event: h.oneOf("throw", "syscall write", "fork", "exec", "load", ""), Threads: h.oneOf("all", "1-2", "9", ""),
		Apply: h.oneOf("print x", "backtrace", "frame", "up", "info locals", "thread", ""), File: "/nonexistent/dump", From: "&x", To: "&x+1",
		Signal: h.oneOf("SIGUSR1", "0", "SIGCONT", "all", "14"), Format: h.oneOf("", "", "x", "4xb", "i", "s"), Data: []byte("xy"), Access: h.oneOf("", "read", "access"),
		By: h.oneOf("", "function", "address"), Temporary: h.below(2) == 0, Hardware: h.below(4) == 0, Full: h.below(2) == 0,
	}
	if h.below(2) == 0 {
		a.Count, a.First, a.Last, a.Limit = few(), few(), few(), few()
	}
	if h.below(3) == 0 {
		a.Thread = few()
		f := few()
		a.Frame = &f
	}
	if h.below(2) == 0 {
		a.Breakpoints, a.Displays, a.Breakpoint, a.Display = []int{few()}, []int{few()}, few(), few()
	}
	if h.below(4) == 0 {
		a.Places, a.Then = []protocol.Site{{Breakpoint: few(), Number: few()}}, h.oneOf("", "delete", "disable", "x")
	}
	if h.below(2) == 0 {
		a.Exprs, a.Lines, a.Actions = []string{"x", "y"}, []string{h.oneOf("print x", "silent", "info threads", "next"), h.oneOf("continue", "print y")}, []string{h.oneOf("stop", "nostop", "pass", "nopass")}
	}
	if h.below(3) == 0 {
		a.Spans = []protocol.Span{{First: few(), Last: few() + 3}}
	}
	return protocol.Command{Name: name, Args: a}
}

// end ends the session: every rank, and its gdb.
func (h *history) end() {
	h.bytes = nil
	h.note("close")
	for _, m := range h.machines {
		m.Close(h.now)
	}
	h.settle()
	h.dies(false)
	for _, m := range h.machines {
		m.Ended(h.now, protocol.Exit{Signal: "SIGKILL"})
		h.take(m)
	}
	for to, n := range h.asked {
		if n != 1 {
			h.t.Errorf("request %d was answered %d times by rank %d", to.id, n, to.rank)
		}
	}
	for _, m := range h.machines {
		if len(m.Open) > 0 || !h.states[m.Target.Rank].IsOver() {
			h.t.Errorf("rank %d is %v, %d requests are open", m.Target.Rank, h.states[m.Target.Rank], len(m.Open))
		}
	}
}
