package gdbtext

import "testing"

func TestKindOf(t *testing.T) {
	for text, want := range map[string]Kind{
		"double [10][20]": Floating, "float (&)[3]": Floating, "const unsigned long [3]": Unsigned, "int [4]": Signed, "char [5]": Signed,
		"bool [2]": Unsigned, "struct point [3]": Opaque, "int *[3]": Opaque, "} [50]": Opaque, "std::vector<double, std::allocator<double> >": Floating,
		"std::vector<std::string, std::allocator<std::string> >": Opaque, "real(kind=8), allocatable (10,-1:20)": Floating, "integer(kind=4) (5)": Signed,
		"complex(kind=8) (5)": Characters, "complex double [2]": Characters, "enum colour {RED, BLUE} [300]": Characters, "enum colour {RED} *[3]": Opaque, "wchar_t [4]": Characters, "character*10": Characters, "Type cell (3)": Opaque,
	} {
		if got := KindOf(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
