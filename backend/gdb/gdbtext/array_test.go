package gdbtext

import (
	"strings"
	"testing"
)

func TestArrayOfType(t *testing.T) {
	for _, c := range []struct {
		name, text, base, index string // of element 5; base "" is no array
		elements                int
	}{
		{"C", "type = double [10][20]\n", "(a)", "[0][5]", 200},
		{"reference", "type = double (&)[3][4]", "(a)", "[1][1]", 12},
		{"structures", "type = struct P {\n    int x;\n    double y;\n} [50]\n", "(a)", "[5]", 50},
		{"pointers", "type = char *[50]", "(a)", "[5]", 50},
		{"text", "type = char [300]", "(a)", "[5]", 300},
		{"texts", "type = const char [30][8]", "(a)", "[5]", 30},
		{"pointer to an array", "type = double (*)[10]", "", "", 0},
		{"array of pointers to arrays", "type = double (*[5])[10]", "", "", 0},
		{"flexible", "type = int []", "", "", 0},
		{"scalar", "type = double", "", "", 0},
		{"structure", "type = struct P {\n    int x[5];\n}", "", "", 0},
		{"function", "type = int (void)", "", "", 0},
		{"too many", "type = char [99999999999999999999]", "", "", 0},
		{"std::array", "type = struct std::array<int, 500> [with _Tp = int] {\n    T _M_elems;\n}", "(a)._M_elems", "[5]", 500},
		{"of std::array", "type = const std::array<std::array<int, 3>, 50>", "(a)._M_elems", "[5]", 50},
		{"vector<bool>", "type = std::vector<bool>", "", "", 0},
		{"map", "type = std::map<int, int>", "", "", 0},
		{"Fortran", "type = real(kind=8), allocatable (0:9,20)", "a", "(5,1)", 200},
		{"Fortran, from below", "type = integer(kind=4) (-2:300)", "a", "(3)", 303},
		{"Fortran, not allocated", "type = real(kind=8), allocatable (:,:)", "", "", 0},
		{"Fortran scalar", "type = real(kind=8)", "", "", 0},
		{"Fortran text", "type = character*10", "a", "(6)", 10},
		{"text of the library", "type = std::string", "(a)._M_dataplus._M_p", "[0]", 0},
		{"reference to one", "type = const std::string &", "(a)._M_dataplus._M_p", "[0]", 0},
		{"without its short name", "type = class std::__cxx11::basic_string<wchar_t, std::char_traits<wchar_t> > [with _CharT = wchar_t] {\n}", "(a)._M_dataplus._M_p", "[0]", 0},
		{"pointer to one", "type = std::string *", "", "", 0},
		{"pointer to a text", "type = const unsigned char *", "(a)", "[0]", 0},
		{"pointer to a number", "type = int *", "", "", 0},
		{"pointer to pointers", "type = char **", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, ok := ParseArray("a", c.text)
			if ok != (c.base != "") {
				t.Fatalf("got %+v, %v", a, ok)
			}
			if ok && (a.Base != c.base || a.Shape.Index(5) != c.index || a.Shape.Elements() != c.elements) {
				t.Errorf("got %+v: element 5 is %s, %d elements", a, a.Item(5), a.Shape.Elements())
			}
		})
	}
	if a, ok := ParseArray("v", "type = std::vector<double>"); !ok || a.Item(0) != "(v)._M_impl._M_start[0]" || a.Count == "" {
		t.Errorf("a vector is %+v, %v", a, ok)
	}
}

func TestElementsIn(t *testing.T) {
	for _, c := range []struct {
		value string
		want  int
	}{
		{"{1, 2, 3...}", 3},
		{"{0 <repeats 150 times>, 1...}", 151},
		{"{{1, 2}, {3, 4}...}", 4},
		{"{{0, 0, 0} <repeats 10 times>, {1, 2, 3}...}", 33},
		{"{{{1 <repeats 20 times>}, {2 <repeats 20 times>}}...}", 40},
		{"{{x = 1, y = {2, 3}}, {x = 4, y = {5, 6}}...}", 2},
		{`{0x55 "a,b", 0x66 "c\"d"...}`, 2},
		{`{44 ',', 39 '\'', 125 '}'...}`, 3},
		{`"abc"...`, 3},
		{`"abc", 'x' <repeats 30 times>, "\001\n"...`, 35},
		{`'a' <repeats 200 times>...`, 200},
		{`"grüße"...`, 7},
		{`L"grüße"...`, 5},
		{`"\303(\0001"...`, 4},
		{"(7, <repeats 200 times>, ...)", 200},
		{"(1, 2, 3, ...)", 3},
		{"((1, 2) (3, 4) (5, 6) ...)", 6},
		{"((1,2), (3,4), ...)", 2}, // complex
		{"std::vector of length 3, capacity 4 = {1, 2...}", 2},
		{"{_M_elems = {1, 2, 3...}}", 3},
		{"{}", 0},
		{"", 0},
		{"5", 0},
	} {
		if got := elementsIn(c.value); got != c.want {
			t.Errorf("%s: %d elements, want %d", c.value, got, c.want)
		}
	}
}

// Whatever a program makes gdb print, counting ends and stays within what is
// there.
func FuzzArrayText(f *testing.F) {
	f.Add("type = double [10][20]", "{{1, 2}, {3 <repeats 9 times>...}...}")
	f.Add("type = real(kind=8), allocatable (0:9,20)", `"abc", 'x' <repeats 30 times>...`)
	f.Add("type = struct std::array<int, 5> [with T = int] {", "((1, 2) (3, 4) ...)")
	f.Fuzz(func(t *testing.T, kind, value string) {
		if a, ok := ParseArray("a", kind); ok && a.Count == "" {
			if n := a.Shape.Elements(); n < 1 || strings.ContainsAny(a.Shape.Index(n-1), " ") {
				t.Errorf("%q: %d elements", kind, n)
			}
		}
		if n := elementsIn(value); n < 0 && !strings.Contains(value, "repeats") {
			t.Errorf("%q: %d elements", value, n)
		}
		if addr := AddressIn(value); addr != 0 && !strings.Contains(value, "0x") {
			t.Errorf("%q: address %#x", value, addr)
		}
	})
}
