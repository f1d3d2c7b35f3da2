package rank

import (
	"errors"
	"strings"
	"testing"
)

// job is the environment of the tests: eight ranks.
var job = Env{
	All: Range(0, 7),
	Group: func(name string) (Set, bool) {
		s, ok := map[string]Set{
			"odd":               Of(1, 3, 5, 7),
			"left-half":         Range(0, 3),
			"bp:3":              Of(2),
			"at:foo.c:42":       Of(3, 4),
			"fn:f(int, char)":   Of(4),
			"host:node[01,3-4]": Of(5),
			"expr{x > {3, 4}}":  Of(6),
		}[name]
		return s, ok
	},
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"rank", "3", "3"},
		{"list", "0-3,7", "0-3,7"},
		{"any order, overlapping", "7,2-4,0-3", "0-4,7"},
		{"blanks", " 0 - 3 , 7 ", "0-3,7"},
		{"stride", "0-7:2", "0,2,4,6"},
		{"stride that misses the end", "1-7:4", "1,5"},
		{"stride 1", "1-7:1", "1-7"},
		{"all", "all", "0-7"},
		{"star", "*", "0-7"},
		{"last", "$", "7"},
		{"up to the last", "5-$", "5-7"},
		{"stride up to the last", "1-$:3", "1,4,7"},
		{"brackets", "[0-3,7]", "0-3,7"},
		{"braces, job", "a{0..3}", "0-3"},
		{"braces, all", "all{0..3,7}", "0-3,7"},
		{"braces, stride", "a{0..7:3}", "0,3,6"},
		{"braces, ranges of ours", "a{0-3,$}", "0-3,7"},
		{"braces, group", "odd{0..3}", "1,3"},
		{"braces, group with at", "@odd{0..3}", "1,3"},
		{"group", "@odd", "1,3,5,7"},
		{"group with a dash", "@left-half", "0-3"},
		{"live, number", "@bp:3", "2"},
		{"live, place", "@at:foo.c:42,0", "0,3-4"},
		{"live, function", "@fn:f(int, char)&all", "4"},
		{"live, host", "[@host:node[01,3-4]]", "5"},
		{"live, expression", "@expr{x > {3, 4}}^0", "0,6"},

		{"complement", "!5", "0-4,6-7"},
		{"complement of a list", "!(0-3,7)", "4-6"},
		{"complement twice", "!!5", "5"},
		{"taken away", "all,!5", "0-4,6-7"},
		{"taken away, blanks", "all , ! 5", "0-4,6-7"},
		{"taken away twice", "all,!5,!6", "0-4,7"},
		{"taken away from a complement", "!5,!6", "0-4,7"},
		{"taken away and given back", "0-3,!2,2", "0-3"},
		{"taken away, a term", "0-7,!3&2-4", "0-2,4-7"},
		{"taken away, a difference", "0-7,!(0-3!1)", "1,4-7"},
		{"complement in a list", "0,(!5)", "0-4,6-7"},
		{"complement, then more", "!5,5", "0-7"},
		{"difference", "0-5!2-3", "0-1,4-5"},
		{"difference with a complement", "0-5!!2", "2"},
		{"difference, left to right", "0-7!0-3!6", "4-5,7"},
		{"intersection", "0-5&4-7", "4-5"},
		{"symmetric difference", "0-5^4-7", "0-3,6-7"},

		{"and binds more than or", "0,1-3&2-7", "0,2-3"},
		{"and binds more than difference", "0-7!1-3&2-7", "0-1,4-7"},
		{"and binds more than symmetric difference", "0-3^2-5&4-7", "0-5"},
		{"difference binds more than or", "0-3,4-7!5", "0-4,6-7"},
		{"complement binds more than and", "!5&4-6", "4,6"},
		{"difference and symmetric difference, left to right", "0-3!1^1", "0-3"},
		{"symmetric difference and difference, left to right", "0-3^1!2", "0,3"},
		{"parentheses", "(0,1-3)&2-7", "2-3"},
		{"brackets nest", "[0-3]&([1-2],(3))", "1-3"},
		{"nothing", "0-3&4-7", ""},
		{"nothing but what is left", "all,!all", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(c.text, job)
			if err != nil {
				t.Fatal(err)
			}
			if s.String() != c.want {
				t.Errorf("%q is %q, want %q", c.text, s, c.want)
			}
		})
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", `rank set "", at 1: expected a rank set, such as 0-3,7 or all or !5 or @name, found the end`},
		{"blank", "  ", `rank set "  ", at 3: expected a rank set, such as 0-3,7 or all or !5 or @name, found the end`},
		{"letter", "0-3,x", `rank set "0-3,x", at 5: "x" is not a rank set; type all, ranks as in 0-3,7, or @x for a group`},
		{"a alone", "a", `"a" is not a rank set`},
		{"comma at the end", "0,", `at 3: expected a rank set`},
		{"two commas", "0,,1", `at 3: expected a rank set, such as 0-3,7 or all or !5 or @name, found ","`},
		{"no comma", "0 1", `at 3: expected a comma or an operator (, & ! ^), found "1"`},
		{"half a range", "0-", `at 3: expected a rank, found the end`},
		{"minus", "-1", `at 1: expected a rank set, such as 0-3,7 or all or !5 or @name, found "-"`},
		{"backwards", "3-0", `at 1: range 3-0 runs backwards; type 0-3`},
		{"beyond the last", "8", `at 1: there is no rank 8; the last is 7`},
		{"range beyond the last", "5-8", `at 3: there is no rank 8; the last is 7`},
		{"far beyond", "99999999999999999999", `there is no rank 99999999999999999999; the last is 7`},
		{"braces beyond the last", "odd{0..8}", `there is no rank 8; the last is 7`},
		{"step 0", "0-7:0", `at 5: expected a step from 1 to 16777215 after ":", as in 0-1023:2`},
		{"no step", "0-7:", `at 5: expected a step`},
		{"step of a rank", "3:2", `at 2: expected a comma or an operator`},
		{"dots", "0..3", `at 2: a range has a "-"; type 0-3`},
		{"thread", "3.2", `at 2: threads of a rank cannot be chosen here; type the rank alone, 3`},
		{"open parenthesis", "(0-3", `at 5: expected ")", or a comma or an operator, found the end`},
		{"wrong bracket", "[0-3)", `at 5: expected "]", or a comma or an operator, found ")"`},
		{"closing too much", "0-3)", `at 4: expected a comma or an operator (, & ! ^), found ")"`},
		{"open braces", "a{0..3", `at 7: expected "}" or a comma, as in a{0..3,7}, found the end`},
		{"empty braces", "a{}", `at 3: expected a rank, found "}"`},
		{"operator at the end", "0&", `at 3: expected a rank set`},
		{"two operators", "0&^1", `at 3: expected a rank set`},
		{"no group", "@even", `at 2: there is no group @even; make it with: group even = SET`},
		{"no group before braces", "b{0..3}", `there is no group @b`},
		{"no name", "@", `at 2: expected the name of a group after @, as in @name, found the end`},
		{"name with a digit first", "@1", `at 2: expected the name of a group`},
		{"live set", "@stopped", `at 2: live set @stopped means nothing here; type the ranks, as in 0-3,7`},
		{"live set with argument", "0,@bp:7", `live set @bp:7 means nothing here`},
		{"live set, not printable", "@host:\r", "live set @host:\uFFFD means nothing here"},
		{"live set, open", "@expr{x", `expected "}", found the end`},
		{"colon after a group", "@odd:3", `at 5: expected a comma or an operator`},
		{"character of two bytes", "ö", `at 1: expected a rank set, such as 0-3,7 or all or !5 or @name, found "ö"`},
		{"too deep", strings.Repeat("(", 100) + "0" + strings.Repeat(")", 100), `parentheses nest deeper than 64`},
		{"too many operators", strings.Repeat("!", 2000) + "0", `more than 1000 operators`},
		{"too many steps in braces", "a{" + strings.Repeat("0..7:2,", 2000) + "0}", `more than 1000 ranges with steps`},
		{"too long", strings.Repeat("0,", 1<<20), `rank set: longer than 1048576 bytes`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Parse(c.text, job)
			if err == nil {
				t.Fatalf("%q is %q, want an error", c.text, s)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q in it", err, c.want)
			}
			if len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error is not one line: %q", err)
			}
		})
	}
}

func TestParseInJobWithHoles(t *testing.T) {
	env := Env{All: Of(0, 2, 4, 9)}
	for text, want := range map[string]string{"0-9": "0,2,4,9", "!2": "0,4,9", "$": "9", "4": "4", "0-$:4": "0,4"} {
		s, err := Parse(text, env)
		if err != nil || s.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, s, err, want)
		}
	}
	if _, err := Parse("0,1", env); err == nil || !strings.Contains(err.Error(), "there is no rank 1; the ranks are 0,2,4,9") {
		t.Errorf("a rank in a hole: %v", err)
	}
}

func TestParseWithoutRanks(t *testing.T) {
	if s, err := Parse("all", Env{}); err != nil || !s.IsEmpty() {
		t.Errorf("all is %q, %v", s, err)
	}
	if _, err := Parse("0", Env{}); err == nil || !strings.Contains(err.Error(), "there are no ranks yet") {
		t.Errorf("rank 0 of none: %v", err)
	}
}

func TestParseLive(t *testing.T) {
	env := Env{All: Range(0, 9), Live: func(name string) (Set, error) {
		if name == "bp:3" {
			return Of(4), nil
		}
		return Set{}, errors.New("no such thing")
	}}
	if s, err := Parse("0,@bp:3", env); err != nil || s.String() != "0,4" {
		t.Errorf("got %v, %v", s, err)
	}
	if _, err := Parse("0,@fn:f", env); err == nil || !strings.HasSuffix(err.Error(), "at 4: @fn:f: no such thing") {
		t.Errorf("error %v", err)
	}
}

func TestParseGroupHidesLiveSet(t *testing.T) {
	env := Env{All: Range(0, 7), Group: func(name string) (Set, bool) { return Of(3), name == "stopped" }}
	if s, err := Parse("@stopped", env); err != nil || s.String() != "3" {
		t.Errorf("@stopped is %q, %v", s, err)
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"odd", "x1", "left-half", "_", "Böse"[:1]} {
		if err := CheckName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, name := range []string{"", "1x", "-x", "all", "a", "stopped", "bp", "a b", "x,y", "bö"} {
		if err := CheckName(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

// The canonical text of a parsed set is parsed as the same set by Parse and
// UnmarshalText.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"0-3,7", "0-7:2", "all", "*", "!5", "all,!5", "$", "[0-3,7]", "a{0..3}", "@odd", "@expr{x > 3}",
		"0-5&4-7^1!2,!(3)", "@host:node[01,3-4]", "((0", "0-99999999",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text, job)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error is not one line: %q", err)
			}
			return
		}
		if !s.Minus(job.All).IsEmpty() {
			t.Errorf("%q gives %q, which is not within %q", text, s, job.All)
		}
		var u Set
		if err := u.UnmarshalText([]byte(s.String())); err != nil || !u.Equal(s) {
			t.Errorf("%q is %q, read as %q, %v", text, s, u, err)
		}
		if s.IsEmpty() {
			return
		}
		if u, err := Parse(s.String(), job); err != nil || !u.Equal(s) {
			t.Errorf("%q is %q, parsed as %q, %v", text, s, u, err)
		}
	})
}
