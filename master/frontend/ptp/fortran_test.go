package ptp

import (
	"math"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
)

// cellType is a derived type as gdb 13 prints it.
const cellType = `type = Type cell
    Type point :: point
    integer(kind=4) :: id
    real(kind=8) :: u(-5:994)
character*8 :: name
    real(kind=8), allocatable :: extra(:)
    PTR TO -> ( Type cell :: next )
    PTR TO -> ( void :: f) (void) )
    logical(kind=2) :: on
End Type cell`

// What gdb 13 prints of types and values, and what Java shows of it.
func TestFortranValues(t *testing.T) {
	const cell = "( point = ( x = 1.5, y = 0 ), id = 3, u = (3, 3, 3, ...), name = 'it\\'s, (a', extra = (1, 2), next = 0x5555 <n+4>, f = 0x0, on = .TRUE. )"
	const shown = "{point={x=1.5 y=0} id=3 u=[0 - 1000] name=it's, (a extra=(1, 2) next=0x0000000000005555 f=0x0000000000000000 on=true}"
	for _, c := range []struct{ ptype, value, want string }{
		{"integer(kind=4)", "-7", "-7"},
		{"integer(kind=1)", "-7", "-7"},
		{"integer(kind=8)", "9223372036854775807", "9223372036854775807"},
		{"integer(kind=16)", "170141183460469231731687303715884105727", "170141183460469231731687303715884105727"},
		{"real(kind=4)", "0.25", "0.25"},
		{"real(kind=16)", "4.0079392708685039896517455793335984e-4938", "4.0079392708685039896517455793335984e-4938"},
		{"real(kind=16)", "1.5", "1.5"},
		{"real(kind=10) (2)", "(0, -1.5e+4000)", "[0 -1.5e+4000]"},
		{"real(kind=4) (4)", "(0, inf, -inf, -nan(0x400000))", "[0 +Inf -Inf NaN]"},
		{"logical(kind=4)", ".TRUE.", "true"},
		{"logical(kind=1)", ".FALSE.", "false"},
		{"complex(kind=8)", "(1,-2)", "{re=1 im=-2}"},
		{"complex(kind=4) (2)", "((1,-1), (2,-2))", "[{re=1 im=-1} {re=2 im=-2}]"},
		{"character*10", `'it\'s "x"  '`, `it's "x"  `},
		{"character*3", `'\001\000a'`, "\x01\x00a"},
		{"character (9)", "'the title'", "the title"},
		{"character(kind=4) (3)", "4_'abc'", "4_'abc'"},
		{"character*2 (2,2)", "(('ab', 'cd') ('ef', 'gh'))", "[[ab cd] [ef gh]]"},
		{"integer(kind=4) (2:4,2)", "((1, 2, 3) (4, 5, 6))", "[[1 2 3] [4 5 6]]"},
		{"real(kind=8), allocatable (0:1)", "(1.5, 2)", "[1.5 2]"},
		{"integer(kind=4) (5:4)", "()", "[]"},
		{"PTR TO -> ( Type cell )", "(PTR TO -> ( Type cell )) 0x5555 <n>", "0x0000000000005555"},
		{"PTR TO -> ( void () (void) )", "(PTR TO -> ( void () (void) )) 0x0", "0x0000000000000000"},
		{cellType, cell, shown},
		{cellType + " (2)", "(" + cell + ", " + cell + ")", "[" + shown + " " + shown + "]"},
		{"Type other", "( x = 1, y = 'a' )", "{x=1 y='a'}"},
	} {
		of := parseFortran("type = " + c.ptype)
		if of.kind == ptp.Struct && of.name == "cell" {
			part := fortranType{kind: ptp.Float, size: 8}
			of.members[0].of.members = []fortranMember{{"x", part}, {"y", part}}
		}
		if !isFortran("type = " + strings.TrimPrefix(c.ptype[strings.LastIndex(c.ptype, "\n")+1:], "End ")) {
			t.Errorf("%s is not recognized", c.ptype)
		}
		v, err := parseFortranValue(c.value)
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
			continue
		}
		is, err := of.value(v)
		if err != nil {
			t.Errorf("%s: %v", c.value, err)
		}
		if got, err := ptptest.Show(is.Format, is.Argument()); got != c.want || err != nil {
			t.Errorf("%s of %s: %q, %v, want %q", c.value, c.ptype, got, err, c.want)
		}
		if format := of.format(); of.name != "other" && format != is.Format && (of.kind != ptp.Float || of.size <= 8) {
			t.Errorf("%s has the format %s, its value %s", c.ptype, format, is.Format)
		}
	}
	if v, err := floatOf(&ptp.Type{Kind: ptp.Float, Size: 8}, "-nan(0x8000000000000)"); err != nil || !math.IsNaN(math.Float64frombits(be(v.Data))) {
		t.Errorf("-nan: %v, %v", v, err)
	}
}

func be(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}

// Values that are cut, or without an end, are not read: they are shown as gdb prints them.
func TestFortranValuesNotRead(t *testing.T) {
	for value, of := range map[string]string{
		"(1, 2, ...)": "integer(kind=4) (3)", "<not allocated>": "real(kind=8) (2)", "(1, 2": "integer(kind=4) (2)", "'abc": "character*3",
		"<error: Cannot access memory at address 0x1>": "integer(kind=4)", "( x = 1": "Type a", strings.Repeat("(", 1000): "integer(kind=4)",
	} {
		if v, err := parseFortranValue(value); err == nil {
			if is, err := parseFortran("type = " + of).value(v); err == nil {
				t.Errorf("%s of %s is %v", value, of, is)
			}
		}
	}
}

// C has types with such names.
func TestNotFortran(t *testing.T) {
	for _, text := range []string{"int", "character", "Type *", "Type &", "const Type", "real", "char [9]", "Type [3]", "struct Type", "void (int)"} {
		if isFortran("type = " + text) {
			t.Errorf("%s is one of Fortran", text)
		}
	}
}

// FuzzFortran: what is read can be decoded by Java.
func FuzzFortran(f *testing.F) {
	f.Add(cellType, "( id = 3, u = (3, ...), name = 'it\\'s' )")
	f.Add("type = complex(kind=8) (2,2)", "(((1,2), (3,4)) ((5,6), (7,8)))")
	f.Fuzz(func(t *testing.T, ptype, value string) {
		if len(value) > 1<<12 {
			return
		}
		of := parseFortran(ptype)
		v, err := parseFortranValue(value)
		if err != nil {
			return
		}
		is, err := of.value(v)
		if err != nil {
			return
		}
		if shown, err := ptptest.Show(is.Format, is.Argument()); err != nil && !strings.Contains(err.Error(), "elements") {
			t.Errorf("%s %s: %q, %v", is.Format, is.Argument(), shown, err)
		}
	})
}

func TestDesignators(t *testing.T) {
	d := designator{base: "a", bounds: []bound{{1, 3}, {-2, 4}}, subs: []string{freeSub, freeSub}}
	if got := d.page(1, 2).text(); got != "(a)(:,-1:0)" {
		t.Error(got)
	}
	one := d.with(func(b bound) string { return "7" })
	if got := one.with(func(b bound) string { return "2" }).text(); got != "(a)(2,7)" {
		t.Error(got)
	}
	if got := d.text(); got != "(a)(:,:)" {
		t.Error(got)
	}
}
