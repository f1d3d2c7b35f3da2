package gdb_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/protocol"
)

func TestNextOverJoin(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "joins.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "joins.c", "// join 0"), Temporary: true})
	r.ok("continue", protocol.Args{})
	r.stop()
	for _, want := range []string{"// join 1", "// both have joined"} {
		r.ok("next", protocol.Args{})
		s := r.stop()
		if s.Reason != "end-stepping-range" || !strings.Contains(s.Source, want) || s.Frame.Func != "main" {
			t.Fatalf("got %+v in %+v, want the line with %s", s, s.Frame, want)
		}
	}
	if v := r.value("sums[0] + sums[1]"); v != "10" {
		t.Errorf("the threads have done %s of 10 turns", v)
	}
}

// at returns FILE:LINE of a text in a source.
func at(t testing.TB, source, text string) string {
	return source + ":" + strconv.Itoa(lineOf(t, source, text))
}

func TestNextOverMPIFinalize(t *testing.T) {
	for _, mpi := range []string{"mpicc.openmpi", "mpicc.mpich"} {
		t.Run(mpi, func(t *testing.T) {
			r := newRig(t, gdb.Config{})
			r.launch(build(t, "mpihello.c", mpi), 1)
			r.ok("break", protocol.Args{Location: at(t, "mpihello.c", "MPI_Finalize()"), Temporary: true})
			r.ok("continue", protocol.Args{})
			r.stop()
			r.ok("next", protocol.Args{})
			if s := r.stop(); s.Reason != "end-stepping-range" || !strings.Contains(s.Source, "return") {
				t.Errorf("got %+v", s)
			}
			r.ok("continue", protocol.Args{})
			r.await(0, protocol.KindExited)
		})
	}
}

// TestThreadsHitTogether has two threads meet at a barrier and hit one breakpoint.
// However their hits coincide, each stop of the rank is one event and no hit is lost.
func TestThreadsHitTogether(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "joins.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "joins.c", "// hit here"), Breakpoint: 4})
	hits := 0
	for hits < 10 {
		r.ok("continue", protocol.Args{})
		s, n := r.hits()
		if s.Reason != "breakpoint-hit" || s.Breakpoint != 4 || len(s.Others) > 0 {
			t.Fatalf("got %+v after %d hits", s, hits)
		}
		hits += n
		if v := r.value("id"); v != "0" && v != "1" {
			t.Errorf("the current thread is not in hit: id = %s", v)
		}
	}
	if got := column(r.ok("info breakpoints", protocol.Args{}), "hits.4"); got != "10" || hits != 10 {
		t.Errorf("%d hits told, gdb counts %s", hits, got)
	}
	r.ok("continue", protocol.Args{})
	if g := r.await(0, protocol.KindExited); string(g.Body) != `{"code":10}` {
		t.Errorf("got %v", g)
	}
	if run, stopped := r.count(protocol.KindRunning), r.count(protocol.KindStopped); run != stopped+1 {
		t.Errorf("running %d times, stopped %d times", run, stopped)
	}
}

func TestManyThreadsHitTogether(t *testing.T) {
	const threads = 16
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "threads.c"), 1, strconv.Itoa(threads))
	r.ok("break", protocol.Args{Location: "meet", Breakpoint: 1})
	for hits := 0; hits < threads; {
		r.ok("continue", protocol.Args{})
		s, n := r.hits()
		if s.Reason != "breakpoint-hit" {
			t.Fatalf("got %+v after %d hits", s, hits)
		}
		hits += n
		if g := r.ok("stacks", protocol.Args{}); g.Stack == nil || !strings.Contains(g.Stack.String(), "meet") {
			t.Errorf("stacks: %v", g)
		}
	}
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}

func TestStepInAndOut(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "calls.c", "// the thread runs"), Temporary: true})
	r.ok("continue", protocol.Args{})
	r.stop()
	r.ok("step", protocol.Args{Count: 2})
	if s := r.stop(); s.Frame == nil || s.Frame.Func != "add" {
		t.Fatalf("step 2: %+v", s)
	}
	r.ok("finish", protocol.Args{})
	g := r.await(0, protocol.KindStopped)
	if !strings.Contains(string(g.Body), `"returned":true`) || column(g, "value") != "2" || !strings.Contains(string(g.Body), `"func":"outer"`) {
		t.Fatalf("finish: %v", g)
	}
	r.ok("until", protocol.Args{Location: at(t, "calls.c", "spin(NULL)")})
	if s := r.stop(); s.Reason != "location-reached" || s.Frame.Func != "main" {
		t.Errorf("until: %+v", s)
	}
	r.ok("print", protocol.Args{Expr: "stop = 1"})
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}

// TestCallEndsLater checks that a call in an expression that was left half-way ends
// when the rank is resumed, and that the rank stops there.
func TestCallEndsLater(t *testing.T) {
	backendtest.NeedRegisters(t)
	program := build(t, "calls.c")
	for _, per := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d to a gdb", per), func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: per})
			r.launch(program, 2)
			stop := func() protocol.Stop {
				t.Helper()
				var s protocol.Stop
				if err := json.Unmarshal(r.await(1, protocol.KindStopped).Body, &s); err != nil {
					t.Fatal(err)
				}
				return s
			}
			r.one(1, "break", protocol.Args{Location: at(t, "calls.c", "// the thread runs"), Temporary: true})
			r.one(1, "continue", protocol.Args{})
			stop()
			r.one(1, "break", protocol.Args{Location: "add", Temporary: true, Breakpoint: 2})
			r.one(1, "print", protocol.Args{Expr: "add(1, 2)"})
			if s := stop(); s.Frame == nil || s.Frame.Func != "add" {
				t.Fatalf("the call stopped with %+v", s)
			}
			r.one(1, "continue", protocol.Args{})
			if s := stop(); s.Reason != "function-finished" || s.Frame == nil || s.Frame.Func != "main" {
				t.Fatalf("got %+v in %+v", s, s.Frame)
			}
			r.one(1, "print", protocol.Args{Expr: "stop = 1"})
			r.one(1, "continue", protocol.Args{})
			r.await(1, protocol.KindExited)
		})
	}
}

func TestUntilLeavesALoop(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "joins.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "joins.c", "pthread_create"), Temporary: true})
	r.ok("continue", protocol.Args{})
	r.stop()
	r.ok("next", protocol.Args{})
	if s := r.stop(); !strings.Contains(s.Source, "for (int i") {
		t.Fatalf("next: %+v", s)
	}
	r.ok("until", protocol.Args{})
	if s := r.stop(); !strings.Contains(s.Source, "// join 0") {
		t.Errorf("until: %+v", s)
	}
}

func TestContinueCount(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "bigstring.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "bigstring.c", "big[i] = "), Breakpoint: 1})
	r.ok("continue", protocol.Args{Count: 9}) // not at a breakpoint of this number
	r.stop()
	from := r.value("i")
	r.ok("continue", protocol.Args{Count: 5})
	r.stop()
	if got := r.value("i - " + from); got != "5" {
		t.Errorf("went %s turns from %s", got, from)
	}
}

func TestInterruptBlockedThreads(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	for range 20 {
		r.ok("continue", protocol.Args{})
		r.fault("print", protocol.Args{Expr: "turns"}, protocol.FaultState, "the rank is running (interrupt it first)")
		r.ok("interrupt", protocol.Args{})
		if s := r.stop(); s.Reason != "interrupted" || len(s.Others) > 0 {
			t.Fatalf("got %+v", s)
		}
		r.ok("interrupt", protocol.Args{}) // no effect
	}
	if n := r.count(protocol.KindStopped); n != 21 {
		t.Errorf("%d stops", n)
	}
}

func TestSchedulerLockingIsTheUsers(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("break", protocol.Args{Location: "add"})
	r.ok("continue", protocol.Args{})
	r.stop()
	r.ok("gdb", protocol.Args{Text: "set scheduler-locking on"})
	before := r.value("turns")
	r.ok("finish", protocol.Args{})
	r.stop()
	if after := r.value("turns"); after != before {
		t.Errorf("the other thread ran: %s, then %s turns", before, after)
	}
}

func TestCrashIsReportedWithItsThread(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "crash.c"), 4)
	id := r.send(4, "continue", protocol.Args{}, patience)
	r.answers(id, 4)
	g := r.await(3, protocol.KindStopped)
	if !strings.Contains(string(g.Body), `"reason":"signal-received","signal":"SIGSEGV","meaning":"Segmentation fault"`) {
		t.Errorf("got %v", g)
	}
	r.await(0, protocol.KindExited)
	id = r.send(4, "stacks", protocol.Args{}, patience)
	for _, g := range r.answers(id, 4) {
		if g.Ranks.Contains(3) && !strings.Contains(fmt.Sprint(g), "SIGSEGV") {
			t.Errorf("no mark in %v", g)
		}
	}
	id = r.send(4, "continue", protocol.Args{}, patience)
	r.answers(id, 4)
	if g := r.await(3, protocol.KindSignalled); !strings.Contains(string(g.Body), `"signal":"SIGSEGV"`) {
		t.Errorf("got %v", g)
	}
}

func TestResumeThatFailsHalfWay(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), 1)
	r.ok("break", protocol.Args{Location: "*0", Breakpoint: 1})
	if g := r.ask("continue", protocol.Args{}); g.Kind == protocol.KindResult {
		r.stop() // it cannot run, and must not be reported as running
	}
	r.ok("delete", protocol.Args{Breakpoints: []int{1}})
	r.ok("next", protocol.Args{})
	if s := r.stop(); s.Reason != "end-stepping-range" {
		t.Errorf("got %+v", s)
	}
}
