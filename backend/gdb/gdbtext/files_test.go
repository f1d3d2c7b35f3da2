package gdbtext

import "testing"

func TestFileOfRank(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"generate-core-file", ""},
		{"gcore", ""},
		{"gcore core", "gcore core.5"},
		{"gcore a b", "gcore a b.5"},
		{"generate-core-file d/%r/core-%r", "generate-core-file d/5/core-5"},
		{"gen c", "gen c.5"},
		{"dump binary memory f.bin table table+8", "dump binary memory f.bin.5 table table+8"},
		{"dump value f x", "dump value f.5 x"},
		{"dum mem f &x (&x)+1", "dum mem f.5 &x (&x)+1"},
		{"dump memory f", ""}, // gdb says what is missing
		{"append memory f x y", "append memory f.5 x y"},
		{"save breakpoints b", "save breakpoints b.5"},
		{"save gdb-index d", ""},
		{"set logging file l", "set logging file l.5"},
		{"set logging enabled on", ""},
		{"record save r", "record save r.5"},
		{"record stop", ""},
		{"print gcore", ""},
		{`-interpreter-exec console "gcore core"`, `-interpreter-exec console "gcore core.5"`},
		{`-interpreter-exec --thread 1 console "gcore core"`, `-interpreter-exec --thread 1 console "gcore core.5"`},
		{`-data-evaluate-expression "gcore core"`, ""},
	} {
		want, some := c.want, c.want != ""
		if !some {
			want = c.line
		}
		got, f, ok := FileOfRank(c.line, 5)
		if got != want || ok != some {
			t.Errorf("%s: %q, %v, want %q", c.line, got, ok, want)
		}
		if ok && f.Shown("Saved "+f.Name) != "Saved "+f.Pattern {
			t.Errorf("%s: %+v", c.line, f)
		}
	}
}
