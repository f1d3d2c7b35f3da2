package gdb_test

import (
	"encoding/json"
	"path"
	"strings"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

func infos(t testing.TB, g protocol.Group) []protocol.BreakpointInfo {
	t.Helper()
	var body struct{ Breakpoints []protocol.BreakpointInfo }
	if err := json.Unmarshal(g.Body, &body); err != nil {
		t.Fatal(err)
	}
	return body.Breakpoints
}

func TestBreakpoints(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), 1)
	line := lineOf(t, "work.c", "twice = 2 * x")
	for _, c := range []struct {
		name string
		args protocol.Args
		want protocol.BreakpointInfo
	}{
		{"function", protocol.Args{Location: "helper", Breakpoint: 11}, protocol.BreakpointInfo{Number: 11, Location: "helper", Func: "helper", Line: line}},
		{"file and line", protocol.Args{Location: "work.c:35", Breakpoint: 3}, protocol.BreakpointInfo{Number: 3, Location: "work.c:35", Func: "compute", Line: 35}},
		{"line alone", protocol.Args{Location: "36", Breakpoint: 4}, protocol.BreakpointInfo{Number: 4, Location: "36", Func: "compute", Line: 36, Again: "work.c:36"}},
		{"condition", protocol.Args{Location: "factorial", Condition: "n == 1", Breakpoint: 5}, protocol.BreakpointInfo{Number: 5, Location: "factorial", Func: "factorial", Line: 27, Condition: "n == 1"}},
		{"condition in the location", protocol.Args{Location: "factorial if n == 99", Breakpoint: 6}, protocol.BreakpointInfo{Number: 6, Location: "factorial if n == 99", Func: "factorial", Line: 27, Condition: "n == 99"}},
		{"temporary", protocol.Args{Location: "compute", Temporary: true, Breakpoint: 8}, protocol.BreakpointInfo{Number: 8, Location: "compute", Func: "compute", Line: 34, Temporary: true}},
		{"no location given", protocol.Args{Breakpoint: 9, Condition: "rank > 99"}, protocol.BreakpointInfo{Number: 9, Location: "*$pc", Func: "main", Line: 42, Condition: "rank > 99", Again: "work.c:42"}},
		{"no number given", protocol.Args{Location: "compute"}, protocol.BreakpointInfo{Number: 12, Location: "compute", Func: "compute", Line: 34}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := infos(t, r.ok("break", c.args))
			if len(list) != 1 {
				t.Fatalf("got %+v", list)
			}
			got := list[0]
			if !strings.HasSuffix(got.File, "work.c") || got.Type != "breakpoint" || !got.Enabled {
				t.Errorf("got %+v", got)
			}
			got.File, got.Type, got.Enabled, got.Again = "", "", false, path.Base(got.Again)
			if got.Again == "." {
				got.Again = ""
			}
			if a, b := string(canonical.JSON(got)), string(canonical.JSON(c.want)); a != b {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		})
	}
	r.fault("break", protocol.Args{Location: "nix", Breakpoint: 20}, protocol.FaultGDB, `Function "nix" not defined.`)
	r.fault("break", protocol.Args{Location: "work.c:9999", Breakpoint: 20}, protocol.FaultGDB, "line 9999")
	r.fault("break", protocol.Args{Location: "helper", Condition: "nix > 1", Breakpoint: 20}, protocol.FaultGDB, "nix")
	r.fault("break", protocol.Args{Location: "helper", Breakpoint: 11}, protocol.FaultUsage, "11")
	r.fault("delete", protocol.Args{Breakpoints: []int{11, 77}}, protocol.FaultGDB, "No breakpoint number 77.")
	if n := len(infos(t, r.ok("info breakpoints", protocol.Args{}))); n != 8 {
		t.Errorf("%d breakpoints", n)
	}
	r.ok("disable", protocol.Args{})
	r.ok("enable", protocol.Args{Breakpoints: []int{8, 5}})
	r.ok("delete", protocol.Args{Breakpoints: []int{12}})
	r.ok("continue", protocol.Args{})
	if s := r.stop(); s.Breakpoint != 8 || !s.Temporary {
		t.Errorf("got %+v", s)
	}
	list := infos(t, r.ok("info breakpoints", protocol.Args{}))
	if len(list) != 6 {
		t.Errorf("left are %+v", list)
	}
	r.ok("enable", protocol.Args{Breakpoints: []int{11}})
	r.ok("continue", protocol.Args{})
	if s := r.stop(); s.Breakpoint != 11 || s.Temporary {
		t.Errorf("got %+v", s)
	}
	if g := r.ok("info breakpoints", protocol.Args{}); column(g, "hits.11") != "1" || column(g, "hits.3") != "0" {
		t.Errorf("hits: %v", g)
	}
	r.ok("delete", protocol.Args{})
	if n := len(infos(t, r.ok("info breakpoints", protocol.Args{}))); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestBreakWhileRunning(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "calls.c"), 1)
	r.ok("continue", protocol.Args{})
	r.ok("break", protocol.Args{Location: at(t, "calls.c", "turns++"), Breakpoint: 1})
	if s := r.stop(); s.Reason != "breakpoint-hit" || s.Breakpoint != 1 {
		t.Fatalf("got %+v", s)
	}
	r.ok("continue", protocol.Args{})
	r.stop()
	r.ok("delete", protocol.Args{Breakpoints: []int{1}})
	r.ok("continue", protocol.Args{})
	r.ok("info breakpoints", protocol.Args{})
	r.ok("interrupt", protocol.Args{})
	if s := r.stop(); s.Reason != "interrupted" {
		t.Errorf("got %+v", s)
	}
}

func TestBreakpointSetThroughGDB(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "work.c"), 1)
	r.ok("gdb", protocol.Args{Text: "break helper"})
	list := infos(t, r.ok("info breakpoints", protocol.Args{}))
	if len(list) != 1 || list[0].Number >= 0 {
		t.Fatalf("got %+v", list)
	}
	r.ok("continue", protocol.Args{})
	if s := r.stop(); s.Breakpoint != list[0].Number {
		t.Errorf("got %+v", s)
	}
	r.ok("delete", protocol.Args{Breakpoints: []int{list[0].Number}})
	r.ok("continue", protocol.Args{})
	r.await(0, protocol.KindExited)
}
