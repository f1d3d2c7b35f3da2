// Tests of commands that are answered after the end of a rank.

package values

import (
	"slices"
	"testing"

	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestLinesAfterEnd(t *testing.T) {
	frame := 1
	for _, c := range []struct {
		name string
		args protocol.Args
		want []string // nil: it needs the process
	}{
		{"ptype", protocol.Args{Expr: "struct s", Format: "o"}, []string{"ptype/o struct s"}},
		{"whatis", protocol.Args{Expr: "a + 1"}, []string{"whatis a + 1"}},
		{"whatis", protocol.Args{Expr: "$1"}, nil},
		{"whatis", protocol.Args{Expr: "a", Frame: &frame}, nil},
		{"ptype", protocol.Args{Expr: "a\nshell date"}, nil},
		{"print", protocol.Args{Expr: "/x sizeof(a)"}, []string{"print /x sizeof(a)"}},
		{"print", protocol.Args{Expr: "a", Stat: true}, nil},
		{"print", protocol.Args{Expr: "a", Last: 9}, nil},
		{"list", protocol.Args{Location: "f"}, []string{"with listsize 10 -- list f", "info line f"}},
		{"list", protocol.Args{Location: "+"}, nil},
		{"gdb", protocol.Args{Text: "info sym f"}, []string{"info sym f"}},
		{"gdb", protocol.Args{Text: "info symbols"}, nil},
		{"gdb", protocol.Args{Text: "info registers"}, nil},
		{"gdb", protocol.Args{Text: "shell date"}, nil},
		{"backtrace", protocol.Args{}, nil},
	} {
		if got := LinesAfterEnd(request.CommandOf(&protocol.Command{Name: c.name, Args: c.args})); !slices.Equal(got, c.want) {
			t.Errorf("%s %+v: %q, want %q", c.name, c.args, got, c.want)
		}
	}
}

func TestAfterEnd(t *testing.T) {
	for _, c := range []struct {
		name, expr, output, errors string
		want                       string // "": it needs the process
	}{
		{"ptype", "s", "type = struct s {\n    int a;\n}\n", "", `{"text":"type = struct s {\n    int a;\n}"}`},
		{"ptype", "struct t", "", "warning: old\nNo struct type named t.\n", `{"kind":"gdb","op":"ptype","message":"No struct type named t."}`},
		{"ptype", "local", "", "No symbol \"local\" in current context.\n", ""},
		{"print", "sizeof(s)", "$1 = 32\n", "", `{"expr":"sizeof(s)"}`},
		{"print", "s", "", "Cannot access memory at address 0x4060\n", ""},
		{"print", "f", "$1 = {int (int)} 0x1139 <f>\n", "", ""},
		{"print", "(long)&s", "$1 = 16480\n", "", ""},
		{"print", "none", "", "A syntax error in expression, near `'.\n", ""},
		{"list", "f", "3\tint x;\n4\tint f;\nLine 4 of \"t.c\" starts at address 0x1139 <f> and ends at 0x1140 <f+7>.\n", "",
			`{"file":"t.c","lines":[{"n":3,"text":"int x;"},{"n":4,"text":"int f;"}]}`},
	} {
		all := AfterEnd(request.CommandOf(&protocol.Command{Name: c.name, Args: protocol.Args{Expr: c.expr}}), rank.Range(2, 3), c.output, c.errors)
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
