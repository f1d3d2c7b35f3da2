package shape

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown writes the leaves of a text between ‹›, and all elements separately.
func shown(t *testing.T, text string) string {
	t.Helper()
	template, leaves, ok := Of(text)
	if !ok {
		return "no shape"
	}
	marked := make([]string, len(leaves))
	for i, l := range leaves {
		marked[i] = "‹" + l + "›"
	}
	return Text(template, marked)
}

func TestLeaves(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a number", "5", "‹5›"},
		{"a character", "97 'a'", "‹97 'a'›"},
		{"a quote", `39 '\''`, `‹39 '\''›`},
		{"a wide character", "120 L'x'", "‹120 L'x'›"},
		{"a structure", "{x = 1, y = -2.5e-07}", "{x = ‹1›, y = ‹-2.5e-07›}"},
		{"not a number", "{a = nan(0x400000), b = -nan(0x1), c = inf, d = -inf}", "{a = ‹nan(0x400000)›, b = ‹-nan(0x1)›, c = ‹inf›, d = ‹-inf›}"},
		{"names of values", "{b = true, c = RED, d = ns::C::B, e = NULL}", "{b = ‹true›, c = ‹RED›, d = ‹ns::C::B›, e = ‹NULL›}"},
		{"flags", "{f = (FA | FB), g = (FA | unknown: 0x8), h = 0}", "{f = ‹(FA | FB)›, g = ‹(FA | unknown: 0x8)›, h = ‹0›}"},
		{"pointers", "{p = 0x404040 <buf+16>, q = 0x0, s = 0x402010 \"a, b\"}", "{p = ‹0x404040 <buf+16>›, q = ‹0x0›, s = ‹0x402010 \"a, b\"›}"},
		{"a pointer with its type", "(Foo<3> *) 0x404040", "(Foo<3> *) ‹0x404040›"},
		{"a function", "{void (int)} 0x401136 <f(int)>", "{void (int)} ‹0x401136 <f(int)>›"},
		{"a function of a template", "(void (*)(int)) 0x401136 <g<std::vector<int, std::allocator<int> > >(int)+4>",
			"(void (*)(int)) ‹0x401136 <g<std::vector<int, std::allocator<int> > >(int)+4>›"},
		{"references", "{r = @0x7ffe10, c = (In &) @0x7ffe20: {x = 1}}", "{r = @‹0x7ffe10›, c = (In &) @‹0x7ffe20›: {x = ‹1›}}"},
		{"a reference to an enumerator", "(C &) @0x7ffe20: RED", "(C &) @‹0x7ffe20›: ‹RED›"},
		{"text", `{n = "a\"}, b", m = "c"...}`, `{n = ‹"a\"}, b"›, m = ‹"c"...›}`},
		{"text in pieces", `{n = "a", '\000' <repeats 14 times>, "b", m = 'x' <repeats 200 times>..., k = 1}`,
			`{n = ‹"a", '\000' <repeats 14 times>, "b"›, m = ‹'x' <repeats 200 times>...›, k = ‹1›}`},
		{"several texts", `{"a", "b"}`, `{‹"a"›, ‹"b"›}`},
		{"equal texts", `{"a" <repeats 3 times>}`, `{‹"a"›, ‹"a"›, ‹"a"›}`},
		{"wide text", `{w = L"abc", u = u"x"}`, `{w = ‹L"abc"›, u = ‹u"x"›}`},
		{"equal elements", "{0, 1 <repeats 3 times>, 2}", "{‹0›, ‹1›, ‹1›, ‹1›, ‹2›}"},
		{"equal elements first", "{0 <repeats 3 times>, 2...}", "{‹0›, ‹0›, ‹0›, ‹2›...}"},
		{"equal structures", "{{x = 1, y = 2} <repeats 2 times>, {x = 0, y = 0}}", "{{x = ‹1›, y = ‹2›}, {x = ‹1›, y = ‹2›}, {x = ‹0›, y = ‹0›}}"},
		{"too many equal elements", "{0 <repeats 5000 times>}", "{‹0› <repeats 5000 times>}"},
		{"text that is no value", "{a = <optimized out>, b = <error: Cannot access memory at address 0x8>}", "{a = ‹<optimized out>›, b = ‹<error: Cannot access memory at address 0x8>›}"},
		{"base classes", "{<Base<int, 3>> = {_vptr.Base = 0x555555 <vtable for P+16>}, <No> = {<No data fields>}, static n = 1}",
			"{<Base<int, 3>> = {_vptr.Base = ‹0x555555 <vtable for P+16>›}, <No> = {‹<No data fields>›}, static n = ‹1›}"},
		{"a vector", "{v = std::vector of length 3, capacity 4 = {1, 2, 3}}", "{v = std::vector of length ‹3›, capacity ‹4› = {‹1›, ‹2›, ‹3›}}"},
		{"a map", `std::map with 1 element = {["a{"] = 1}`, `std::map with ‹1› element = {["a{"] = ‹1›}`},
		{"a shared pointer", "std::shared_ptr<int> (use count 1, weak count 0) = {get() = 0x5555573fa0}",
			"std::shared_ptr<int> (use count ‹1›, weak count ‹0›) = {get() = ‹0x5555573fa0›}"},
		{"an optional value", "std::optional<int> = {[contained value] = 4}", "std::optional<int> = {[contained value] = ‹4›}"},
		{"complex", "{c = 1 + -2i}", "{c = ‹1› + ‹-2›i}"},
		{"a derived type", "( x = 1.5, y = (1, 2), n = 'ab ''c', l = .TRUE., c = (1,2) )", "( x = ‹1.5›, y = (‹1›, ‹2›), n = ‹'ab ''c'›, l = ‹.TRUE.›, c = (‹1›,‹2›) )"},
		{"equal elements of Fortran", "(0, 1, <repeats 3 times>)", "(‹0›, ‹1›, ‹1›, ‹1›)"},
		{"rows of Fortran", "((1, 2) (3, 4))", "((‹1›, ‹2›) (‹3›, ‹4›))"},
		{"padded text of Fortran", "'hi', ' ' <repeats 18 times>", "‹'hi', ' ' <repeats 18 times>›"},
		{"not associated", "<not associated>", "‹<not associated>›"},
		{"lines", "{\n  x = 1,\n  y = {\n    0,\n    1\n  }\n}", "{\n  x = ‹1›,\n  y = {\n    ‹0›,\n    ‹1›\n  }\n}"},
		{"a thread", "Thread 0x7ffff7dd1740 (LWP 123)", "Thread ‹0x7ffff7dd1740› (LWP ‹123›)"},
		{"brackets that do not match", "{x = 1", "no shape"},
		{"a bracket of another kind", "{x = 1)", "no shape"},
		{"a quote that does not end", `{x = "a}`, `{x = "a}`},
		{"bytes of ours", "{x = \x00}", "no shape"},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(t, c.text); got != c.want {
				t.Errorf("%s\nhas leaves %s\nwant       %s", c.text, got, c.want)
			}
		})
	}
}

func TestShapesAreTheSame(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
	}{
		{"other numbers", "{x = 1}", "{x = -20.5}", true},
		{"null", "(int *) 0x0", "(int *) 0x55555", true},
		{"null and a text", `{s = 0x0}`, `{s = 0x402010 "abc"}`, true},
		{"equal elements", "{0 <repeats 20 times>}", "{0, 1, 0 <repeats 18 times>}", true},
		{"of Fortran", "(0, <repeats 20 times>)", "(0, 1, 0, <repeats 18 times>)", true},
		{"texts in pieces", `{n = "ab", '\000' <repeats 13 times>}`, `{n = '\000' <repeats 15 times>}`, true},
		{"optimised out", "{x = <optimized out>}", "{x = 1}", true},
		{"another length", "std::vector of length 2, capacity 2 = {1, 2}", "std::vector of length 1, capacity 2 = {1}", false},
		{"another type", "(Foo<3> *) 0x404040", "(Foo<4> *) 0x404040", false},
		{"another key", `{["a"] = 1}`, `{["b"] = 1}`, false},
		{"another member", "{x = 1}", "{y = 1}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, _ := Of(c.a)
			b, _, _ := Of(c.b)
			if (a == b) != c.same {
				t.Errorf("%q and %q", a, b)
			}
		})
	}
}

// sample returns values of C, C++ and Fortran as printed by gdb 13.1.
func sample(t testing.TB) []string {
	text, err := os.ReadFile("testdata/values.txt")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func TestTextsOfGDBSurviveARoundTrip(t *testing.T) {
	for _, text := range sample(t) {
		template, leaves, ok := Of(text)
		if got := Join(template, leaves); !ok || got != text {
			t.Errorf("has a shape: %v\n%s\ncomes back as\n%s", ok, text, got)
		}
		if n, err := Leaves(template); n != len(leaves) || err != nil {
			t.Errorf("%q has %d leaves, %v; want %d", template, n, err, len(leaves))
		}
		if paths := Paths(template); len(paths) != len(leaves) {
			t.Errorf("%q has %d leaves, but paths %q", template, len(leaves), paths)
		}
	}
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"5", []string{""}},
		{"(int *) 0x55555", []string{""}},
		{"{1, 2}", []string{"[0]", "[1]"}},
		{"{x = 1, in = {y = 2, w = {3, 4}}, z = 5}", []string{"x", "in.y", "in.w[0]", "in.w[1]", "z"}},
		{"{<Base> = {b = 1}, {u = 2, f = 3}, static s = 4}", []string{"b", "u", "f", "s"}},
		{"{{x = 1}, {x = 2}}", []string{"[0].x", "[1].x"}},
		{"{v = std::vector of length 1, capacity 2 = {7}}", []string{"v", "v", "v[0]"}},
		{`std::map with 2 elements = {["a"] = 1, ["b c"] = {x = 2}}`, []string{"", `["a"]`, `["b c"].x`}},
		{"( x = 1, y = (2, 3) )", []string{"x", "y(1)", "y(2)"}},
		{"{\n  x = 1,\n  y = 2\n}", []string{"x", "y"}},
	} {
		template, _, _ := Of(c.text)
		if got := Paths(template); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestBare(t *testing.T) {
	for leaf, want := range map[string]string{
		"5": "5", "0x0": "0x0", "0x1f": "0x1f", "0x55555": Address, "0x404040 <buf+16>": "<buf+16>",
		`0x404040 "a"`: `"a"`, `0x404040 <s> "a"`: `<s> "a"`, `"0x404040"`: `"0x404040"`,
	} {
		if got := Bare(leaf); got != want {
			t.Errorf("%s: %s, want %s", leaf, got, want)
		}
		if want == Address {
			want = leaf
		}
		if got := Known(leaf); got != want {
			t.Errorf("%s: %s is known, want %s", leaf, got, want)
		}
	}
}

// pieces are tokens of values, and other texts.
var pieces = []string{"{", "}", "(", ")", "<", ">", "[", "]", ",", ", ", " = ", "x", "1", "-2.5", "0x55555", " <buf+4>", `"a"`, "'b'", `\`, "'", `"`,
	" <repeats 3 times>", ", <repeats 12 times>", "...", " ", "\n", "::", "@", ": ", "std::vector of length 2, capacity 3 = ", "\x00", "\xff"}

// uncounted reports whether a text has no counted elements.
func uncounted(text string) (string, bool) { return text, !strings.Contains(text, "<repeats ") }

func TestNoByteIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), "")
		template, leaves, ok := Of(text)
		if !ok {
			return
		}
		if want, plain := uncounted(text); plain && Text(template, leaves) != want {
			t.Fatalf("%q comes back as %q", text, Text(template, leaves))
		}
		if n, err := Leaves(template); n != len(leaves) || err != nil {
			t.Fatalf("%q has %d leaves, %v; want %d", template, n, err, len(leaves))
		}
		if n := len(Paths(template)); n != len(leaves) {
			t.Fatalf("%q has %d paths, want %d", template, n, len(leaves))
		}
		Join(template, leaves)
	})
}

func FuzzOf(f *testing.F) {
	for _, text := range sample(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		template, leaves, ok := Of(text)
		if !ok {
			return
		}
		if n, err := Leaves(template); n != len(leaves) || err != nil {
			t.Fatalf("%q has %d leaves, %v; want %d", template, n, err, len(leaves))
		}
		if want, plain := uncounted(text); plain && Text(template, leaves) != want {
			t.Fatalf("%q comes back as %q", text, Text(template, leaves))
		}
		if n := len(Paths(template)); n != len(leaves) {
			t.Fatalf("%q has %d paths, want %d", template, n, len(leaves))
		}
		again, same, ok := Of(Join(template, leaves))
		if ok && again == template && !slices.Equal(same, leaves) {
			t.Fatalf("%q comes back with leaves %q, want %q", text, same, leaves)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text := "{" + strings.Repeat("field = 12345, ", 99) + "last = 1}"
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		Of(text)
	}
}
