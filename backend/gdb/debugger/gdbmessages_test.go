package debugger

import (
	"testing"

	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
)

func TestRemarks(t *testing.T) {
	same := func(line string) string { return line }
	for _, c := range []struct {
		name  string
		heard []string
		user  bool // only messages for the user
		want  string
	}{
		{"nothing", nil, false, ""},
		{"in pieces", []string{"Cannot insert ", "breakpoint 2.\n", "Cannot access memory\n", "\n"}, false, "Cannot insert breakpoint 2.\nCannot access memory"},
		{"of several ranks", []string{"a\n", "b\n", "a\n", "b\n"}, false, "a\nb"},
		{"without an end", []string{"No symbol"}, false, "No symbol"},
		{"what was said to us", []string{"Undefined command\n", "Quit\n"}, true, ""},
		{"warnings among it", []string{"Quit\n", "warning: x\n", "  more\n", "\n", "Quit\n", "Error in re-setting breakpoint 2: y\n"}, true, "warning: x\n  more\nError in re-setting breakpoint 2: y"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r gdbMessages
			for _, text := range c.heard {
				r.receive(text)
			}
			if c.user {
				r.keepForUser()
			}
			if got := r.take(same); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if again := r.take(same); again != "" {
				t.Errorf("told again: %q", again)
			}
		})
	}
}

func TestNumbersInRemarks(t *testing.T) {
	d := New(2)
	for i, gdb := range []string{"4", "7"} {
		m := &core{}
		m.points.List = []*breakpoint.Point{{Number: 2 + i, GDB: gdb}}
		d.ranks = append(d.ranks, m)
	}
	for line, want := range map[string]string{
		"Cannot insert breakpoint 4.": "Cannot insert breakpoint 2.",
		"Cannot insert breakpoint 7.": "Cannot insert breakpoint 3.",
		"Watchpoint 7 deleted.":       "Watchpoint 3 deleted.",
		// of no rank
		"Error in re-setting breakpoint 9: No symbol x": "Error in re-setting breakpoint 9: No symbol x",
	} {
		if got := d.translated(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestPlaceless(t *testing.T) {
	list := func(pairs ...string) mi.Tuple {
		var all mi.Tuple
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, mi.Field{Value: mi.Value{Fields: mi.Tuple{
				{Name: "name", Value: mi.Value{Str: pairs[i]}}, {Name: "value", Value: mi.Value{Str: pairs[i+1]}},
			}}})
		}
		return all
	}
	for _, c := range []struct {
		name string
		list mi.Tuple
		text string
		want mi.Tuple
	}{
		{"all", list("i", "1", "p", "{x = 1}"), "i = 1\np = {...}\n", list("i", "1", "p", "{x = 1}")},
		{"some", list("i", "1"), "sum = <optimized out>\ni = 1\nn = 7\n", list("sum", "<optimized out>", "i", "1", "n", "7")},
		{"of one name", list("i", "2"), "i = <optimized out>\ni = 2\n", list("i", "<optimized out>", "i", "2")},
		{"of one name, told by gdb 18", list("i", "2"), "i = <optimized out>\t<a.c:7>\ni = 2\t<a.c:3, shadowed>\n", list("i", "<optimized out>", "i", "2")},
		{"none", nil, "No locals.\n", nil},
		{"not understood", list("i", "1"), "No symbol table is loaded.\n", list("i", "1")},
		{"several lines", list("a", "{1}"), "a = {\n  x = 1,\n  y = 2\n}\nb = <optimized out>\n", list("a", "{1}", "b", "<optimized out>")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := gdbtext.WithOmitted(c.list, c.text); (mi.Record{Results: got}).String() != (mi.Record{Results: c.want}).String() {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestOfNoUse checks the messages of gdb 13 and gdb 16 about a missing source file.
func TestOfNoUse(t *testing.T) {
	for line, want := range map[string]bool{
		"28\tq.cc: No such file or directory.":         true,
		"warning: 28\tq.cc: No such file or directory": true,
		"warning: q.cc: No such file or directory":     false,
		"No such file or directory.":                   false,
	} {
		if got := ignoredMessage.MatchString(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

func TestUnknownPlaces(t *testing.T) {
	for words, want := range map[string]bool{
		`Function "nosuch" not defined.`:               true,
		`Function "nosuch" not defined in "work.c".`:   true,
		`No source file named nosuch.c.`:               true,
		`No line 99 in file "work.c".`:                 true,
		`No symbol "nosuch" in current context.`:       false,
		`Cannot access memory at address 0x0`:          false,
		`Invalid thread ID: 99`:                        false,
		`malformed linespec error: unexpected string.`: false,
	} {
		if got := breakpoint.IsUnknownPlace(words); got != want {
			t.Errorf("%s: %v", words, got)
		}
	}
}
