package gdb_test

import (
	"os"
	"strings"
	"testing"

	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/protocol"
)

// recorded brings rank 0 to main, in a gdb that records.
func recorded(t *testing.T, program string) *rig {
	t.Helper()
	for _, d := range gdb.Recordable() {
		t.Setenv(d.Name, d.Value)
	}
	r := newRig(t, gdb.Config{Reverse: true})
	r.launch(program, 1)
	return r
}

// goes resumes rank 0 and returns its stop.
func (r *rig) goes(command string) protocol.Stop {
	r.Helper()
	r.ok(command, protocol.Args{})
	s := r.stop()
	if s.Frame == nil {
		r.Fatalf("%s: a stop without a frame: %+v", command, s)
	}
	return s
}

func TestBackwards(t *testing.T) {
	backendtest.NeedRegisters(t)
	r := recorded(t, build(t, "work.c"))
	r.ok("break", protocol.Args{Breakpoint: 1, Location: "helper"})
	for _, c := range []struct {
		command, reason, function string
		line                      int
	}{
		{"continue", "breakpoint-hit", "helper", 20},
		{"next", "end-stepping-range", "helper", 21},
		{"next", "end-stepping-range", "helper", 22},
		{"reverse-next", "end-stepping-range", "helper", 21},
		{"reverse-next", "breakpoint-hit", "helper", 20},
		{"reverse-continue", "no-history", "main", 42},
		{"continue", "breakpoint-hit", "helper", 20},
		{"reverse-finish", "end-stepping-range", "compute", 36},
		{"reverse-stepi", "end-stepping-range", "compute", 36},
	} {
		if s := r.goes(c.command); s.Reason != c.reason || s.Frame.Func != c.function || s.Frame.Line != c.line {
			t.Fatalf("%s: %s in %s:%d, want %s in %s:%d", c.command, s.Reason, s.Frame.Func, s.Frame.Line, c.reason, c.function, c.line)
		}
	}
	// Its effects are undone.
	r.goes("reverse-continue")
	if got := r.value("total"); got != "0" {
		t.Errorf("total is %s", got)
	}
}

// TestLogBackwards checks that a log is reported in reverse, too, and that the rank
// goes on backwards.
func TestLogBackwards(t *testing.T) {
	backendtest.NeedRegisters(t)
	r := recorded(t, build(t, "work.c"))
	r.ok("log", protocol.Args{Breakpoint: 1, Location: "helper", Exprs: []string{"x"}})
	r.goes("continue")
	if s := r.goes("reverse-continue"); s.Reason != "no-history" || s.Frame.Func != "main" {
		t.Errorf("got %+v", s)
	}
	if n := r.count(protocol.KindLogged); n != 2 {
		t.Errorf("logged %d times", n)
	}
}

// TestRecordEnds checks that gdb stops before the end of the program, which cannot be
// undone.
func TestRecordEnds(t *testing.T) {
	r := recorded(t, build(t, "work.c"))
	if s := r.goes("continue"); s.Reason != "record-ends" || s.Detail != "the end of the program" {
		t.Fatalf("got %+v", s)
	}
	r.ok("gdb", protocol.Args{Text: "record stop"})
	r.fault("reverse-next", protocol.Args{}, protocol.FaultUsage, "not recorded any more (gdb record full records from here on)")
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}

// TestCannotBeRecorded checks that what gdb cannot record is named, and can be passed
// without a record.
func TestCannotBeRecorded(t *testing.T) {
	if info, _ := os.ReadFile("/proc/cpuinfo"); !strings.Contains(string(info), " avx ") {
		t.Skip("this processor has no AVX, which gdb cannot record")
	}
	r := recorded(t, build(t, "vector.c"))
	s := r.goes("continue")
	if s.Detail == "the end of the program" {
		t.Skip("this gdb records AVX, as 16 does")
	}
	if s.Reason != "record-ends" || s.Detail != "the instruction 0xc5" || s.Frame.Func != "vector" {
		t.Fatalf("got %+v", s)
	}
	if s := r.goes("reverse-continue"); s.Reason != "no-history" || s.Frame.Func != "main" {
		t.Fatalf("got %+v", s)
	}
	r.goes("continue") // to the end of the record
	r.ok("gdb", protocol.Args{Text: "record stop"})
	r.ok("break", protocol.Args{Breakpoint: 1, Location: "behind"})
	r.goes("continue")
	r.ok("gdb", protocol.Args{Text: "record full"})
	if s := r.goes("next"); s.Frame.Line != 14 {
		t.Fatalf("got %+v", s)
	}
	if s := r.goes("reverse-next"); s.Reason != "no-history" || s.Frame.Line != 13 {
		t.Fatalf("got %+v", s)
	}
}

// TestInterruptRecorded checks that a recorded rank can be interrupted, and runs
// backwards from there.
func TestInterruptRecorded(t *testing.T) {
	r := recorded(t, build(t, "spin.c"))
	r.ok("continue", protocol.Args{})
	r.ok("interrupt", protocol.Args{})
	if s := r.stop(); s.Reason != "interrupted" {
		t.Fatalf("got %+v", s)
	}
	if s := r.goes("reverse-continue"); s.Reason != "no-history" || s.Frame.Func != "main" {
		t.Fatalf("got %+v", s)
	}
	r.ok("detach", protocol.Args{})
	r.await(0, protocol.KindDetached)
}

func TestBackwardsIsRefused(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), 1)
	for _, name := range []string{"reverse-continue", "reverse-next", "reverse-step", "reverse-finish", "reverse-nexti", "reverse-stepi"} {
		r.fault(name, protocol.Args{}, protocol.FaultUsage, "nothing has been recorded (start with --reverse, as in sdm run --reverse)")
	}
	if err := (gdb.Config{Reverse: true, RanksPerGDB: 8}).Validate(); err == nil || !strings.Contains(err.Error(), "a gdb of its own") {
		t.Errorf("shared: %v", err)
	}
}
