package gdbtext

import (
	"strings"
	"testing"
)

func TestCutPart(t *testing.T) {
	for _, c := range []struct {
		value, path string
		shown       int
	}{
		{"{0, 1, 2...}", "", 0}, // the value itself
		{"5", "", 0},
		{"{n = 3, u = {0, 1, 2}}", "", 0},
		{"{n = 3, u = {0, 1, 2...}, v = {3...}}", ".u", 3},
		{"{n = 3, u = {0 <repeats 200 times>...}}", ".u", 200},
		{"{n = 3, name = \"a, b = {...}\", u = {0, 1...}}", ".u", 2},
		{"{n = 3, name = \"abc\"..., u = {0, 1...}}", ".name", 3},
		{"{n = 3, p = 0x55 \"abc\"..., u = {0, 1...}}", ".p", 3},
		{"{n = 3, p = 0x55 <name> L\"aé\"..., u = {0, 1...}}", ".p", 2},
		{"{n = 3, name = 'x' <repeats 200 times>...}", ".name", 200},
		{"{n = 3, f = 0x55 <f(int)>, u = {0, 1...}}", ".u", 2},
		{"{{x = 1, u = {1, 2}}, {x = 1, u = {1, 2...}}}", "[1].u", 2},
		{"{{x = 1, u = {1, 2}} <repeats 12 times>, {x = 1, u = {1, 2...}}...}", "[12].u", 2},
		{"{inner = {a = 1, b = {{1, 2}, {3, 4...}...}}, c = 2}", ".inner.b", 4},
		{"{<base<int, long>> = {u = {1...}}, v = 2}", ".u", 1},
		{"{u = std::vector of length 900, capacity 1024 = {1, 2...}, v = std::vector of length 0, capacity 0}", ".u", 2},
		{"{v = std::vector of length 0, capacity 0, u = std::vector of length 9, capacity 9 = {1...}}", ".u", 1},
		{"{m = std::map with 900 elements = {[1] = 2, [2] = 3...}}", "", 0},
		{"std::vector of length 2, capacity 2 = {std::vector of length 0, capacity 0, std::vector of length 9, capacity 9 = {1, 2...}}", "._M_impl._M_start[1]", 2},
		{"{u = {...", ".u", 0},
		{"{", "", 0},
		{"{...", "", 0},
		{"...", "", 0},
	} {
		path, shown, ok := TruncatedPart(c.value)
		if path != c.path || shown != c.shown || ok != (c.path != "") {
			t.Errorf("%s: got %q, %d, %v", c.value, path, shown, ok)
		}
	}
}

func TestCutFortran(t *testing.T) {
	for _, c := range []struct {
		value, path string
		shown       int
	}{
		{"(1, 2, ...)", "", 0}, // the value itself
		{"( x = 1, y = 2 )", "", 0},
		{"( point = ( x = 0, y = 0 ), u = (3, <repeats 200 times>, ...), v = (1, ...) )", "%u", 200},
		{"( point = ( x = 0, u = (1, 2, ...) ), z = (1.5,-2) )", "%point %u", 2},
		{"( name = 'a, ( x = (1, ...)', text = 'abc'... )", "%text", 3},
		{"(( id = 1, u = (1, 2) ), ( id = 2, u = (1, 2, 3, ...) ))", "1 %u", 3},
		{"(( id = 1 ), <repeats 7 times>, ( id = 2, u = (1, ...) ))", "7 %u", 1},
		{"( m = ((1, 2) (3, ...) ...) )", "", 0}, // of several dimensions
		{"( u = (...", "%u", 0},
		{"( ...", "", 0},
		{"(( ...", "", 0},
	} {
		path, shown, ok := TruncatedFortran(c.value)
		if got := strings.Join(path, " "); got != c.path || shown != c.shown || ok != (c.path != "") {
			t.Errorf("%s: got %q, %d, %v", c.value, got, shown, ok)
		}
	}
}

func FuzzCutFortran(f *testing.F) {
	f.Add("( point = ( x = 0 ), u = (3, <repeats 200 times>, ...) )")
	f.Add("(( id = 1, u = 'a''...' ), <repeats 3 times>, ( ...")
	f.Fuzz(func(t *testing.T, value string) {
		path, shown, ok := TruncatedFortran(value)
		if ok && (len(path) == 0 || shown < 0) {
			t.Errorf("%q: got %q, %d", value, path, shown)
		}
		for _, p := range path {
			if p == "" {
				t.Errorf("%q: a step to nowhere in %q", value, path)
			}
		}
	})
}

func FuzzCutPart(f *testing.F) {
	f.Add("{n = 3, u = {0, 1, 2...}}")
	f.Add("{{x = 1, u = \"a\\\"b\"...}, {u = std::vector of length 9, capacity 9 = {1...}}}")
	f.Fuzz(func(t *testing.T, value string) {
		if items, n := Items(value, true); Depth(value) < 1 || n < 0 && len(items) == 0 && n != UnknownCount {
			t.Errorf("%q: %d of %d items", value, len(items), n)
		}
		if path, shown, ok := TruncatedPart(value); ok && (path == "" || shown < 0) {
			t.Errorf("%q: got %q, %d", value, path, shown)
		}
	})
}

func TestContainerItems(t *testing.T) {
	for _, c := range []struct {
		value string
		items string
		n     int
	}{
		{"std::map with 900 elements = {[\"a, b\"] = {1, 2}, [\"c\"] = {3}...}", `["a, b"] = {1, 2}|["c"] = {3}`, 900},
		{"std::__debug::set with 1 element = {[0] = 5}", "[0] = 5", 1},
		{"std::deque with 3 elements = {1, 2...}", "1|2", 3},
		{"std::vector<bool> of length 900, capacity 960 = {true, false...}", "true|false", 900},
		{"std::vector<bool, std::allocator<bool> > of length 900, capacity 960 = {true...}", "true", 900},
		{"std::__cxx11::list = {[0] = 1, [1] = 2...}", "[0] = 1|[1] = 2", UnknownCount},
		{"std::__cxx11::list", "", 0},
		{"std::vector of length 3, capacity 4 = {1, 2, 3}", "", 0},
		{"{1, 2}", "", 0},
		{"std::map with 99999999999999999999 elements = {", "", 0},
	} {
		items, n := ContainerItems(c.value)
		if strings.Join(items, "|") != c.items || n != c.n {
			t.Errorf("%s: got %q, %d", c.value, items, n)
		}
	}
}

func TestItemsIn(t *testing.T) {
	for _, c := range []struct {
		value string
		array bool
		items string
		deep  int
	}{
		{`std::vector of length 2, capacity 4 = {"a, b", "c"}`, false, `"a, b"|"c"`, 1},
		{"std::vector of length 2, capacity 2 = {std::vector of length 2, capacity 2 = {1, 2}, std::vector of length 0, capacity 0}", false,
			"std::vector of length 2, capacity 2 = {1, 2}|std::vector of length 0, capacity 0", 2},
		{`std::map with 2 elements = {["a{"] = std::vector of length 1, capacity 1 = {{x = 1}}, ["b"] = std::vector of length 0, capacity 0}`, false,
			`["a{"] = std::vector of length 1, capacity 1 = {{x = 1}}|["b"] = std::vector of length 0, capacity 0`, 3},
		{`{{n = 1, s = "}"}, {n = 2, s = "\"{{{"}}`, true, `{n = 1, s = "}"}|{n = 2, s = "\"{{{"}`, 2},
		{"{n = 1, s = 2}", false, "", 1},
		{"5", true, "", 1},
	} {
		items, _ := Items(c.value, c.array)
		if got := strings.Join(items, "|"); got != c.items || Depth(c.value) != c.deep {
			t.Errorf("%s: got %s, %d levels", c.value, got, Depth(c.value))
		}
	}
}

func TestUnparenthesized(t *testing.T) {
	for expr, want := range map[string]string{
		"((d).name)": "d.name", "((((d).s)).q)": "d.s.q", "((p)->next)->x": "p->next->x", "((&d)->x)": "((&d)->x)",
		"((class Base) d)": "((class Base) d)", "f(x)[3]": "f(x)[3]", "((int)x).y": "((int)x).y", "(*(p)).x": "(*p).x",
		"sizeof (x)": "sizeof (x)", "((a)[2])": "a[2]", "": "",
	} {
		if got := Unparenthesized(expr); got != want {
			t.Errorf("%s: %s, want %s", expr, got, want)
		}
	}
}
