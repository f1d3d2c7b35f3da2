package cluster

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

var (
	sessions    = flag.Uint64("sessions", 3, "sessions of random commands to play")
	sessionSeed = flag.Uint64("session-seed", 0, "seed of the first of them; a failure tells its own")
)

// TestRandomCommands sends random commands with random arguments, many at a time, as a front end
// may. Each must be refused at once or be done once, and no rank may answer one twice.
func TestRandomCommands(t *testing.T) {
	for seed := *sessionSeed; seed < *sessionSeed+*sessions; seed++ {
		t.Run(fmt.Sprintf("-session-seed=%d", seed), func(t *testing.T) { randomCommands(t, rand.New(rand.NewPCG(seed, 2))) })
	}
}

func randomCommands(t *testing.T, random *rand.Rand) {
	const ranks, commands, atOnce = 9, 400, 8
	d := up(t, Config{Ranks: ranks, Servers: 1 + random.IntN(4), Script: script(t, "stacks 7\nvalue load = noise % 40\n")})
	d.launch()
	open := map[protocol.RequestID]*rank.Set{}
	calls := map[protocol.RequestID]session.Call{}
	for given := 0; given < commands || len(open) > 0; {
		for given < commands && len(open) < atOnce {
			c := anyCall(random)
			given++
			id, err := d.Master.Do(t.Context(), c)
			var f *protocol.Fault
			if err != nil && !errors.As(err, &f) {
				t.Fatalf("%+v: %v is no fault", c, err)
			}
			if err == nil {
				open[id], calls[id] = &rank.Set{}, c
			}
		}
		if len(open) == 0 {
			continue
		}
		e := d.next()
		answered := open[e.ID]
		switch {
		case e.Done == nil && e.Group.Kind == protocol.KindLost:
			t.Fatalf("servers are lost: %v\n%+v", e.Group, calls)
		case e.ID == 0 || e.Late:
		case answered == nil:
			t.Fatalf("something comes for request %d, which has ended: %+v\n%+v", e.ID, calls[e.ID], e)
		case e.Done != nil:
			delete(open, e.ID)
		case e.Group.Kind == protocol.KindResult || e.Group.Kind == protocol.KindFault:
			if twice := answered.Intersect(e.Group.Ranks); !twice.IsEmpty() && !manyAnswers[calls[e.ID].Command] {
				t.Errorf("ranks %v answer twice: %+v\n%v", twice, calls[e.ID], e.Group)
			}
			*answered = answered.Union(e.Group.Ranks)
		}
	}
}

// manyAnswers are commands whose answers are about rank sets, not from ranks.
var manyAnswers = map[string]bool{"groups": true}

// anyCall returns a random call, which is invalid more often than not.
func anyCall(random *rand.Rand) session.Call {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	number := func() int {
		return []int{-1 << 31, -1, 0, 0, 1, 2, 3, 7, 100, 1 << 31, 1<<63 - 1, -1 << 63}[random.IntN(12)]
	}
	var names []string
	for _, c := range protocol.Commands {
		if c.Name != "quit" && c.Name != "stage" { // stage writes files
			names = append(names, c.Name)
		}
	}
	c := session.Call{
		Command: pick(append(names, "", "nonsense", "print", "print", "continue", "expand")...),
		Ranks:   pick("", "all", "0-3", "8", "99", "0-3,5", "@stopped", "@running", "@bp:1", "@expr{load > 5}", "@fn:main", "@at:a.c:7", "@host:*", "none", "0-", "g", "!0-3", "@expr{"),
		Wait:    time.Duration(random.IntN(3)) * 500 * time.Millisecond,
	}
	a := &c.Args
	a.Expr, a.Location, a.Condition = pick("", "load", "rank", "a[3]", "*p", "1/0", "x y", "field"), pick("", "main", "f.c:7", "7", "*0x1"), pick("", "", "load > 3", ")")
	if random.IntN(2) == 0 {
		a.Count, a.First, a.Last, a.Limit, a.Samples = number(), number(), number(), number(), random.IntN(5)-2
		a.Every, a.By = pick("", "1ms", "-1s", "x", "0"), pick("", "function", "address", "line", "x")
	}
	if random.IntN(2) == 0 {
		a.Thread, a.Breakpoint, a.Display, a.Of, a.Hash = number(), number(), number(), protocol.RequestID(random.IntN(300)), uint32(random.IntN(3))
		f := number()
		a.Frame = &f
	}
	if random.IntN(2) == 0 {
		a.Breakpoints, a.Displays = []int{number()}, []int{number(), number()}
		a.Spans = []protocol.Span{{First: number(), Last: number()}, {First: number(), Last: number()}}
	}
	if random.IntN(2) == 0 {
		a.Exprs, a.Lines, a.Actions, a.Arguments = []string{pick("", "load")}, []string{pick("", "silent", "continue")}, []string{pick("", "stop")}, []string{"x"}
		a.Access, a.Event, a.Threads, a.Apply, a.Text = pick("", "read", "x"), pick("", "throw"), pick("", "all", "1-3", "3-1", "x"), pick("", "print load", "bt"), pick("", "info threads")
		a.File, a.From, a.To, a.Format, a.Signal = pick("", "/nonexistent/f"), pick("", "load"), pick("", "load"), pick("", "x", "99xb", "zz"), pick("", "0", "SIGINT", "x")
	}
	if random.IntN(4) == 0 {
		a.Name, a.Set, a.Data, a.EOF, a.Full = pick("", "g", "all", "@x", "0"), pick("", "0-3", "g", "99", "@stopped", "!"), []byte(pick("", "abc")), random.IntN(2) == 0, true
		a.Temporary, a.Hardware, a.Pending = true, random.IntN(2) == 0, random.IntN(2) == 0
		a.Pids = []protocol.Pid{{Rank: rank.ID(random.IntN(12)), PID: random.IntN(3) - 1}}
		a.Cores = []protocol.Core{{Rank: rank.ID(random.IntN(12)), File: pick("", "core")}}
		if random.IntN(2) == 0 {
			a.Job = &protocol.Job{Program: pick("", "work"), Size: random.IntN(12) - 2, StopAt: pick("", "main", "none", "entry")}
		}
	}
	return c
}
