// Tests of commands that are answered after the end of a rank.

package values

import (
	"testing"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestLineAfterEnd(t *testing.T) {
	frame := 1
	const exited, detached = backend.Exited, backend.Detached
	for _, c := range []struct {
		name  string
		state backend.State
		args  protocol.Args
		want  string // "": it needs the process
	}{
		{"ptype", exited, protocol.Args{Expr: "struct s", Format: "o"}, "ptype/o struct s"},
		{"ptype", detached, protocol.Args{Expr: "struct s"}, "ptype struct s"},
		{"ptype", backend.Stopped, protocol.Args{Expr: "struct s"}, ""},
		{"whatis", exited, protocol.Args{Expr: "a + 1"}, "whatis a + 1"},
		{"whatis", exited, protocol.Args{Expr: "$1"}, ""},
		{"whatis", exited, protocol.Args{Expr: "a", Frame: &frame}, ""},
		{"ptype", exited, protocol.Args{Expr: "a\nshell date"}, ""},
		{"print", exited, protocol.Args{Expr: "/x sizeof(a)"}, "print /x sizeof(a)"},
		{"print", detached, protocol.Args{Expr: "/x sizeof(a)"}, ""},
		{"print", exited, protocol.Args{Expr: "a", Stat: true}, ""},
		{"print", exited, protocol.Args{Expr: "a", Last: 9}, ""},
		{"gdb", exited, protocol.Args{Text: "info sym f"}, "info sym f"},
		{"gdb", exited, protocol.Args{Text: "info symbols"}, ""},
		{"gdb", exited, protocol.Args{Text: "info registers"}, ""},
		{"gdb", exited, protocol.Args{Text: "shell date"}, ""},
		{"backtrace", exited, protocol.Args{}, ""},
	} {
		command := request.CommandOf(&protocol.Command{Name: c.name, Args: c.args})
		if got := LineAfterEnd(command, c.state); got != c.want {
			t.Errorf("%s %+v of a rank in state %v: %q, want %q", c.name, c.args, c.state, got, c.want)
		}
	}
}

func TestAfterEnd(t *testing.T) {
	for _, c := range []struct {
		name, expr, output, errors string
		want                       string // "": it needs the process
	}{
		{"ptype", "s", "type = struct s {\n    int a;\n}\n", "", `{"text":"type = struct s {\n    int a;\n}"}`},
		{"ptype", "struct t", "", "warning: old\nNo struct type named t.\n",
			`{"kind":"gdb","op":"ptype","message":"No struct type named t."}`},
		{"ptype", "local", "", "No symbol \"local\" in current context.\n", ""},
		{"print", "sizeof(s)", "$1 = 32\n", "", `{"expr":"sizeof(s)"}`},
		{"print", "s", "", "Cannot access memory at address 0x4060\n", ""},
		{"print", "f", "$1 = {int (int)} 0x1139 <f>\n", "", ""},
		{"print", "(long)&s", "$1 = 16480\n", "", ""},
		{"print", "none", "", "A syntax error in expression, near `'.\n", ""},
	} {
		command := request.CommandOf(&protocol.Command{Name: c.name, Args: protocol.Args{Expr: c.expr}})
		all := AfterEnd(command, rank.Range(2, 3), c.output, c.errors)
		if c.want == "" && len(all) == 0 {
			continue
		}
		var of rank.Set
		for _, g := range all {
			of = of.Union(g.Ranks)
			if string(g.Body) != c.want {
				t.Errorf("%s %s: %s, want %s", c.name, c.expr, g.Body, c.want)
			}
		}
		if of.String() != "2-3" {
			t.Errorf("%s %s: ranks %v answer, want 2-3", c.name, c.expr, of)
		}
	}
}
