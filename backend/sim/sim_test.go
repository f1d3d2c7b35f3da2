package sim

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestConfigValidate(t *testing.T) {
	second := func(rank.ID, int) time.Duration { return time.Second }
	tests := []struct {
		name string
		cfg  Config
		want string // part of the error; "": none
	}{
		{"zero", Config{}, ""},
		{"all", Config{Size: 8, Variants: 3, CrashLine: 14, FailCode: 255, RunTime: second, Clock: Wall{}}, ""},
		{"size", Config{Size: -1}, "size -1"},
		{"variants", Config{Variants: -1}, "variants -1"},
		{"exit code", Config{FailCode: 256}, "exit code 256"},
		{"crash line", Config{CrashLine: 6}, "line 6 of work.c has no code"},
		{"run time", Config{RunTime: second}, "needs a clock"},
		{"answer time", Config{AnswerTime: second}, "needs a clock"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.cfg.Validate()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
		})
	}
}

func TestNewPanicsOnBadConfig(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	New(Config{Size: -1}, &log{})
}

// held makes targets of ranks that are held before main.
func held(ranks rank.Set) []backend.Target {
	var targets []backend.Target
	for r := range ranks.All() {
		targets = append(targets, backend.Target{Rank: r, Held: true})
	}
	return targets
}

func command(id protocol.RequestID, ranks rank.Set, name string, args protocol.Args) backend.Request {
	return backend.Request{ID: id, Ranks: ranks, Command: &protocol.Command{Name: name, Args: args}}
}

// TestThousandsAreOneGroup checks that a Sink gets one group for each distinct answer, for any
// number of ranks.
func TestThousandsAreOneGroup(t *testing.T) {
	ranks := rank.Range(0, 4999)
	var l log
	b := New(Config{Variants: 3}, &l)
	b.Attach(1, held(ranks), "helper", 0)
	l.take()
	b.Do(command(2, ranks, "print", protocol.Args{Expr: "x"}))
	b.Do(command(3, ranks, "stacks", protocol.Args{By: "function"}))
	want := []string{
		`2: reply [0-4999] {"expr":"x"} value=0[0]|1[1]|`,
		`3: reply [0-4999] {"by":"function"} {main [0-4999] {compute [0-4999] {phase_0 [`,
	}
	got := l.take()
	for i, line := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], line) {
			t.Fatalf("got %d lines, number %d is %.200q, want %q", len(got), i, got[i], line)
		}
	}
}

// TestWall uses delays of Wall in the time of a synctest bubble: every rank answers once and in
// order, and the Sink is not called after Close.
func TestWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		ranks := rank.Range(0, 99)
		slow := func(r rank.ID, _ int) time.Duration { return time.Duration(r) * time.Millisecond }
		b := New(Config{RunTime: slow, AnswerTime: slow, Clock: Wall{}}, &l)
		b.Attach(1, held(ranks), "main", 0)
		<-time.After(time.Second)
		synctest.Wait()
		l.take()
		b.Do(command(2, ranks, "print", protocol.Args{Expr: "rank"}))
		b.Do(command(3, ranks, "continue", protocol.Args{}))
		<-time.After(50 * time.Millisecond)
		synctest.Wait()
		got := l.take()
		if n := slices.IndexFunc(got, func(s string) bool { return strings.HasPrefix(s, "3: reply [50]") }); n < 0 {
			t.Errorf("rank 50 has not answered in 50 ms: %q", got)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if rest := l.take(); len(rest) > 0 {
			t.Errorf("after Close it said %q", rest)
		}
	})
}

// TestConcurrentUse runs commands and timers at the same time, for the race detector.
func TestConcurrentUse(t *testing.T) {
	var l log
	ranks := rank.Range(0, 9)
	soon := func(r rank.ID, _ int) time.Duration { return time.Duration(r) * time.Microsecond }
	b := New(Config{RunTime: soon, AnswerTime: soon, Clock: Wall{}}, &l)
	b.Attach(1, held(ranks), "main", 0)
	var tasks sync.WaitGroup
	for i := range 4 {
		tasks.Go(func() {
			for range 100 {
				b.Do(command(protocol.RequestID(i+2), ranks, "print", protocol.Args{Expr: "rank"}))
			}
		})
	}
	tasks.Wait()
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// discard is a Sink that discards everything.
type discard struct{}

func (discard) Reply(protocol.RequestID, ...protocol.Group) {}
func (discard) Event(...protocol.Group)                     {}

func BenchmarkDo(b *testing.B) {
	commands := map[string]protocol.Command{
		"print":  {Name: "print", Args: protocol.Args{Expr: "rank"}},
		"equal":  {Name: "print", Args: protocol.Args{Expr: "size"}},
		"stacks": {Name: "stacks"},
	}
	for _, size := range []struct {
		name string
		n    rank.ID
	}{{"1", 1}, {"1000", 1000}, {"1M", 1 << 20}} {
		ranks := rank.Range(0, size.n-1)
		sim := New(Config{Variants: 8}, discard{})
		sim.Attach(1, held(ranks), "helper", 0)
		for _, name := range []string{"print", "equal", "stacks"} {
			c := commands[name]
			b.Run(name+" "+size.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					sim.Do(backend.Request{Ranks: ranks, Command: &c})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size.n), "ns/rank")
			})
		}
	}
}
