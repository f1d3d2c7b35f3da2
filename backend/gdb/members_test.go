package gdb_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
)

// membersOf lists all members of a value, page by page.
func membersOf(r *rig, args protocol.Args) (all protocol.Members, values map[string]string) {
	r.Helper()
	values = map[string]string{}
	for {
		g := r.ok("members", args)
		var page protocol.Members
		if err := json.Unmarshal(g.Body, &page); err != nil {
			r.Fatal(err)
		}
		for _, m := range page.List {
			values[m.Name] = column(g, "value."+m.Name)
		}
		values[""] = column(g, "value")
		page.List = append(all.List, page.List...)
		if all = page; !page.More || len(all.List) > 300 {
			return all, values
		}
		args.First = len(all.List)
	}
}

// checkTree goes down from a value to its members by paths, and compares each of them with what gdb shows of its
// expression: scalars with print, others with the members of the expression.
func checkTree(t *testing.T, r *rig, expr string, path []string, depth int) (visited int) {
	t.Helper()
	all, values := membersOf(r, protocol.Args{Expr: expr, Path: path})
	for _, m := range all.List {
		below := append(path[:len(path):len(path)], m.Name)
		visited++
		if m.Expr != "" && m.Count == 0 && !m.Base && !strings.Contains(m.Type, "&") {
			g := r.ask("print", protocol.Args{Expr: m.Expr})
			var bad protocol.Fault
			got := column(g, "value")
			if json.Unmarshal(g.Body, &bad); g.Kind == protocol.KindFault {
				got = "<error: " + bad.Message + ">"
			}
			if !sameValue(got, values[m.Name]) {
				t.Errorf("%s %v: %q is printed as %q, and %q as a member", expr, below, m.Expr, got, values[m.Name])
			}
		}
		if m.Count == 0 || depth == 0 {
			continue
		}
		visited += checkTree(t, r, expr, below, depth-1)
		if m.Expr == "" || m.Base || strings.HasPrefix(m.Name, "<anonymous") {
			continue
		}
		byPath, a := membersOf(r, protocol.Args{Expr: expr, Path: below})
		byExpr, b := membersOf(r, protocol.Args{Expr: m.Expr})
		if len(byPath.List) != len(byExpr.List) {
			t.Errorf("%s %v: %d members by path, %d by %q", expr, below, len(byPath.List), len(byExpr.List), m.Expr)
			continue
		}
		for i := range byPath.List {
			if x, y := a[byPath.List[i].Name], b[byExpr.List[i].Name]; x != y {
				t.Errorf("%s %v: member %d is %q by path, %q by %q", expr, below, i, x, y, m.Expr)
			}
		}
	}
	return visited
}

// sameValue compares a value of print with the value of a member: print shows the type of a
// pointer.
func sameValue(printed, member string) bool {
	if strings.HasPrefix(printed, "(") && !strings.HasPrefix(member, "(") {
		if i := strings.Index(printed, ") 0x"); i >= 0 {
			printed = printed[i+2:]
		}
	}
	return printed == member
}

func TestMembersByPathAndByExpression(t *testing.T) {
	for _, c := range []struct {
		source, compiler, at string
		flags, exprs         []string
	}{
		{"members.c", "gcc", "stops here", nil, []string{"head", "&head", "field[4990]@10", "head.grid"}},
		{"classes.cc", "g++", "std::printf", nil, []string{"whole", "numbers"}},
		{"derived.f90", "gfortran", "stops here", []string{"-J" + scratch}, []string{"one", "many", "parts::plane(:,1499:1501)", "one%grid"}},
	} {
		for _, level := range []string{"-O0", "-O2"} {
			for _, per := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s %s, %d in a gdb", c.source, level, per), func(t *testing.T) {
					r := newRig(t, gdb.Config{RanksPerGDB: per})
					r.launch(build(t, c.source, append([]string{c.compiler, level}, c.flags...)...), per)
					if per > 1 {
						r.send(per, "break", protocol.Args{Location: at(t, c.source, c.at), Breakpoint: 1}, patience)
					}
					r.ok("break", protocol.Args{Location: at(t, c.source, c.at), Breakpoint: 2})
					r.ok("continue", protocol.Args{})
					r.stop()
					for _, expr := range c.exprs {
						if n := checkTree(t, r, expr, nil, 2); n < 3 {
							t.Errorf("%s: %d members", expr, n)
						}
					}
				})
			}
		}
	}
}

// TestPure gives expressions that would change something, by their text or by what gdb calls for them.
func TestPure(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "classes.cc", "g++"), 1)
	r.ok("break", protocol.Args{Location: at(t, "classes.cc", "std::printf"), Breakpoint: 1})
	r.ok("continue", protocol.Args{})
	r.stop()
	for _, command := range []string{"print", "members"} {
		for _, expr := range []string{"numbers[0] = 7", "numbers[0]++", "stop(0, 0)", "/x numbers[0] = 7"} {
			r.fault(command, protocol.Args{Expr: expr, Pure: true}, protocol.FaultUsage, "this call may change nothing")
		}
		for _, expr := range []string{"*wrapped", "wrapped[1]"} {
			if g := r.ask(command, protocol.Args{Expr: expr, Pure: true}); g.Kind != protocol.KindFault ||
				!strings.Contains(string(g.Body), "may-call-functions is off") {
				t.Errorf("%s %s: %v", command, expr, g)
			}
		}
		r.ok(command, protocol.Args{Expr: "whole", Pure: true})
	}
	r.ok("print", protocol.Args{Expr: "numbers[0]"})
	if got := column(r.ok("print", protocol.Args{Expr: "numbers[1]", Pure: true}), "value"); got != "11" {
		t.Errorf("numbers[1] = %s", got)
	}
	if got := column(r.ok("print", protocol.Args{}), "value"); got != "10" { // the last one that was not pure
		t.Errorf("the last value is %s", got)
	}
	if got := column(r.ok("print", protocol.Args{Expr: "wrapped[1]"}), "value"); got != "11" { // calls are possible again
		t.Errorf("wrapped[1] = %s", got)
	}
	r.ok("gdb", protocol.Args{Text: "set may-call-functions off"})
	r.ok("print", protocol.Args{Expr: "numbers[1]", Pure: true})
	r.fault("print", protocol.Args{Expr: "wrapped[1]"}, protocol.FaultGDB, "may-call-functions is off")
}

func TestMembersThatAreNotThere(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.launch(build(t, "members.c"), 1)
	r.ok("break", protocol.Args{Location: at(t, "members.c", "stops here"), Breakpoint: 1})
	r.ok("continue", protocol.Args{})
	r.stop()
	r.fault("members", protocol.Args{Expr: "head", Path: []string{"at", "z"}}, protocol.FaultGDB, "there is no z in head.at")
	r.fault("members", protocol.Args{Expr: "field", Path: []string{"[5000]"}}, protocol.FaultGDB, "there is no [5000] in field")
	r.fault("members", protocol.Args{Expr: "head.id", Path: []string{"x"}}, protocol.FaultGDB, "there is no x in head.id")
	r.fault("members", protocol.Args{Expr: "nosuch"}, protocol.FaultGDB, `No symbol "nosuch"`)
	r.fault("members", protocol.Args{Expr: "head", First: -1}, protocol.FaultUsage, "first is from 0 on")
	r.fault("members", protocol.Args{Expr: "head", Count: 5000}, protocol.FaultUsage, "at most 1000")
	for args, want := range map[string]string{"head": `"count":-1,"first":0,"members":[]`, "field": `"count":5000,"first":0,"members":[]`} {
		if g := r.ok("members", protocol.Args{Expr: args, Count: -1}); !strings.Contains(string(g.Body), want) {
			t.Errorf("%s without members: %s", args, g.Body)
		}
	}
	if g := r.ok("members", protocol.Args{Expr: "head", First: 50}); !strings.Contains(string(g.Body), `"members":[]`) {
		t.Errorf("behind the last: %s", g.Body)
	}
	if g := r.ok("members", protocol.Args{Expr: "field", Path: []string{"[4999]"}}); column(g, "value") != "4999" {
		t.Errorf("the last element: %v", g)
	}
}
