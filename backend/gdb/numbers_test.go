package gdb

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
)

func TestKindOf(t *testing.T) {
	for text, want := range map[string]kind{
		"double [10][20]": floating, "float (&)[3]": floating, "const unsigned long [3]": unsigned, "int [4]": signed, "char [5]": signed,
		"bool [2]": unsigned, "struct point [3]": opaque, "int *[3]": opaque, "} [50]": opaque, "std::vector<double, std::allocator<double> >": floating,
		"std::vector<std::string, std::allocator<std::string> >": opaque, "real(kind=8), allocatable (10,-1:20)": floating, "integer(kind=4) (5)": signed,
		"complex(kind=8) (5)": characters, "complex double [2]": characters, "enum colour {RED, BLUE} [300]": characters, "enum colour {RED} *[3]": opaque, "wchar_t [4]": characters, "character*10": characters, "Type cell (3)": opaque,
	} {
		if got := kindOf(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	write := func(k kind, size int, data any) *numbers {
		var b bytes.Buffer
		if err := binary.Write(&b, binary.NativeEndian, data); err != nil {
			t.Fatal(err)
		}
		s := &numbers{kind: k, size: size}
		for all := b.Bytes(); len(all) > 0; { // pieces that end within elements
			n := min(5, len(all))
			s.Write(all[:n])
			all = all[n:]
		}
		return s
	}
	f := write(floating, 8, []float64{3, math.NaN(), -1.5, math.Inf(1), 1e300, 1, -1e300, math.NaN()})
	if f.n != 8 || f.nan != 2 || f.nanAt != 1 || f.inf != 1 || f.min.text != "-1.0000000000000001e+300" || f.min.at != 6 || f.max.at != 4 || f.mean() != 2.5/5 {
		t.Errorf("%+v, mean %v", f, f.mean())
	}
	i := write(signed, 8, []int64{math.MaxInt64 - 1, math.MaxInt64, math.MinInt64})
	if i.max.text != "9223372036854775807" || i.max.at != 1 || i.min.text != "-9223372036854775808" {
		t.Errorf("%+v", i)
	}
	if u := write(unsigned, 1, []uint8{200, 3}); u.max.text != "200" || u.min.text != "3" || u.mean() != 101.5 {
		t.Errorf("%+v", u)
	}
	if s := write(signed, 2, []int16{-7, 3}); s.min.text != "-7" || s.mean() != -2 {
		t.Errorf("%+v", s)
	}
	long := []byte{0, 0, 0, 0, 0, 0, 0, 0xa0, 0x00, 0xc0, 1, 2, 3, 4, 5, 6} // -2.5L with padding
	if x := write(floating, 16, long); x.min.f != -2.5 {
		t.Errorf("%+v", x)
	}
}
