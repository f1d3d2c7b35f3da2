package values

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"sdm/backend/gdb/gdbtext"
)

func TestNumbers(t *testing.T) {
	write := func(k gdbtext.Kind, size int, data any) *numbers {
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
	f := write(gdbtext.Floating, 8, []float64{3, math.NaN(), -1.5, math.Inf(1), 1e300, 1, -1e300, math.NaN()})
	if f.n != 8 || f.nan != 2 || f.nanAt != 1 || f.inf != 1 || f.min.text != "-1.0000000000000001e+300" || f.min.at != 6 || f.max.at != 4 || f.mean() != 2.5/5 {
		t.Errorf("%+v, mean %v", f, f.mean())
	}
	i := write(gdbtext.Signed, 8, []int64{math.MaxInt64 - 1, math.MaxInt64, math.MinInt64})
	if i.max.text != "9223372036854775807" || i.max.at != 1 || i.min.text != "-9223372036854775808" {
		t.Errorf("%+v", i)
	}
	if u := write(gdbtext.Unsigned, 1, []uint8{200, 3}); u.max.text != "200" || u.min.text != "3" || u.mean() != 101.5 {
		t.Errorf("%+v", u)
	}
	if s := write(gdbtext.Signed, 2, []int16{-7, 3}); s.min.text != "-7" || s.mean() != -2 {
		t.Errorf("%+v", s)
	}
	long := []byte{0, 0, 0, 0, 0, 0, 0, 0xa0, 0x00, 0xc0, 1, 2, 3, 4, 5, 6} // -2.5L with padding
	if x := write(gdbtext.Floating, 16, long); x.min.f != -2.5 {
		t.Errorf("%+v", x)
	}
}
