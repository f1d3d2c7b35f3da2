package debugger

import (
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/mi/mitest"
)

// starting returns a gdb with a bound that is told to attach to n processes, and has
// not written anything yet.
func starting(n int) *Debugger {
	d := New(n)
	d.Bound = LimitOf(0, 8*time.Second)
	for i := range n {
		d.Add(NewMachine(backend.Target{PID: 42 + i}, Host{}))
	}
	for _, m := range d.Machines {
		m.Start(0, 1, "", 0, false)
	}
	d.Started("./g", 2*time.Second)
	return d
}

// TestSilentGDBIsReplaced checks that a silent gdb gets half of the remaining time, and
// another one the rest.
func TestSilentGDBIsReplaced(t *testing.T) {
	d := starting(1)
	if at := d.Deadline(); at != 5*time.Second {
		t.Fatalf("it is given up at %v", at)
	}
	d.Tick(5 * time.Second)
	killed := End{Cause: "killed by SIGKILL", Crashed: true}
	if orphans := d.Died(5*time.Second, killed, true); len(orphans) != 1 {
		t.Fatalf("%d ranks get another gdb", len(orphans))
	}
	m := d.Machines[0]
	if got := drain(d, m); !strings.Contains(got, "it has said nothing in 3s") || strings.Contains(got, "error") {
		t.Errorf("said %s", got)
	}
	second := New(1)
	second.Bound = d.Bound
	second.Add(m)
	m.TakeOver(5 * time.Second)
	second.Started("./g", 5*time.Second)
	if at := second.Deadline(); at != 8*time.Second {
		t.Fatalf("the second is given up at %v", at)
	}
	second.Tick(8 * time.Second)
	if orphans := second.Died(8*time.Second, killed, true); len(orphans) != 0 {
		t.Error("a third gdb is started")
	}
	if got := drain(second, m); !strings.Contains(got, "./g has said nothing in 3s") {
		t.Errorf("said %s", got)
	}
}

// TestSecondGDBHasSomeTime checks that a replacement gdb has some time even if the
// first has used it up.
func TestSecondGDBHasSomeTime(t *testing.T) {
	b := LimitOf(0, 8*time.Second).begin(7*time.Second, true)
	if at, lasted := b.silentUntil(true), b.since(9*time.Second); at != 10*time.Second || lasted != 9*time.Second {
		t.Errorf("it is given up at %v, and says that this has lasted %v at 9s", at, lasted)
	}
	if at := LimitOf(0, 2*time.Second).begin(1900*time.Millisecond, true).silentUntil(true); at != 2900*time.Millisecond {
		t.Errorf("of a wait of 2s: it is given up at %v", at)
	}
}

// TestAttachIsBounded checks that a gdb that does not attach is killed, and that only
// its current rank is given up while time remains for the other.
func TestAttachIsBounded(t *testing.T) {
	d := starting(2)
	d.Take()
	d.Record(time.Second, mitest.Record("(gdb)"))
	if at := d.Deadline(); at != 6*time.Second {
		t.Fatalf("it is given up at %v", at)
	}
	d.Tick(6 * time.Second)
	if !d.Kill {
		t.Error("gdb lives")
	}
	if got := drain(d, d.Machines[0]); !strings.Contains(got, "gdb has not taken control of process 42 in 6s") {
		t.Errorf("the first rank: %s", got)
	}
	orphans := d.Died(6*time.Second, End{Cause: "killed by SIGKILL", Crashed: true}, true)
	if len(orphans) != 1 || orphans[0] != d.Machines[1] {
		t.Errorf("%d ranks get another gdb", len(orphans))
	}
}

// TestAttachIsUnbounded checks that without a bound an attach may take any time.
func TestAttachIsUnbounded(t *testing.T) {
	d := starting(1)
	d.Bound = bound{}
	d.Record(time.Second, mitest.Record("(gdb)"))
	if at := d.Deadline(); at != 0 {
		t.Errorf("it is given up at %v", at)
	}
}

// TestTakingOverIsBounded checks that a silent gdb that is to take over a rank is the
// last one: the remaining time is for all of them together.
func TestTakingOverIsBounded(t *testing.T) {
	d := starting(1)
	m := d.Machines[0]
	m.attaching, m.Open, m.State, m.phase = nil, nil, backend.Stopped, held
	crashed := End{Cause: "killed by SIGSEGV", Crashed: true}
	d.Startup.Speaks = true
	if orphans := d.Died(10*time.Second, crashed, true); len(orphans) != 1 {
		t.Fatal("no gdb takes the rank over")
	}
	for _, at := range []time.Duration{10 * time.Second, 12 * time.Second} {
		d = New(1)
		d.Bound = LimitOf(0, 8*time.Second)
		d.Add(m)
		m.TakeOver(at)
		d.Started("./g", at)
		d.Record(at, mitest.Record("(gdb)"))
		if due := d.Deadline(); due != 18*time.Second {
			t.Fatalf("a gdb that began at %v is given up at %v", at, due)
		}
		if at == 10*time.Second {
			d.Died(at+time.Second, crashed, true)
		}
	}
	drain(d, m)
	d.Tick(18 * time.Second)
	if orphans := d.Died(18*time.Second, End{Cause: "killed by SIGKILL", Crashed: true}, true); !d.Kill || len(orphans) != 0 {
		t.Errorf("kill %v, and %d ranks get another gdb", d.Kill, len(orphans))
	}
	if got := drain(d, m); !strings.Contains(got, "no other could take the rank over: it has not taken control of process 42 in 8s: it is at ") {
		t.Errorf("said %s", got)
	}
}
