package gdbtext

import "testing"

func TestUnscoped(t *testing.T) {
	const near = "A syntax error in expression, near `"
	for _, c := range []struct{ expr, message, want string }{
		{"rank", near + "'.", "work::rank"},
		{"(rank)", near + ")'.", "(work::rank)"},
		{"rank+1", near + "+1'.", "work::rank+1"},
		{"a(3) + size  / 2", near + "/ 2'.", "a(3) + work::size  / 2"},
		{"mod .eq. 0", near + ".eq. 0'.", "work::mod .eq. 0"},
		{"1 +", near + "'.", ""},
		{"work::rank", near + "'.", ""},
		{"$rank", near + "'.", ""},
		{"3 4", near + "4'.", ""},
		{"rank", "No symbol \"rank\" in current context.", ""},
		{"rank", near + "more than there is'.", ""},
		{"", near + "'.", ""},
	} {
		got := ""
		if before, name, after, ok := Unscoped(c.expr, c.message); ok {
			got = before + ProcedureName("m::work") + "::" + name + after
		}
		if got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.expr, c.message, got, c.want)
		}
	}
}

func TestProcedure(t *testing.T) {
	for function, want := range map[string]string{"m::work": "work", "outer": "outer", "a::b::c": "c", "": ""} {
		if got := ProcedureName(function); got != want {
			t.Errorf("%q: %q, want %q", function, got, want)
		}
	}
}

func TestIsFortran(t *testing.T) {
	for file, want := range map[string]bool{"g.f90": true, "/a/B.F90": true, "x.f": true, "x.c": false, "": false, "f90": false} {
		if IsFortran(file) != want {
			t.Errorf("%q", file)
		}
	}
}

func TestInC(t *testing.T) {
	for expr, want := range map[string]string{"S": "s", "Grid%Label": "grid.label", "&s": "&s"} {
		if got := InC(expr); got != want {
			t.Errorf("%s is %s in C, not %s", expr, got, want)
		}
	}
}
