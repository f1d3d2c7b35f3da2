package rank

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// size returns the memory of a set, in bytes.
func size(s Set) int {
	n := int(unsafe.Sizeof(s))
	if s.more == nil {
		return n
	}
	n += int(unsafe.Sizeof(*s.more)) + cap(s.more.runs)*int(unsafe.Sizeof(run{}))
	if bits := s.bits(); bits != nil {
		n += int(unsafe.Sizeof(*bits)) + cap(bits.Words())*8
	}
	return n
}

func every(first, n, step ID) Set {
	var ids []ID
	for i := range n {
		ids = append(ids, first+i*step)
	}
	return Of(ids...)
}

// uneven is every without its second last member, so that it has no constant step.
func uneven(first, n, step ID) Set {
	left := first + (n-2)*step
	return every(first, n, step).Minus(Range(left, left))
}

func TestSetCostsWhatItHolds(t *testing.T) {
	for _, c := range []struct {
		name         string
		set          Set
		memory, wire int
	}{
		{"empty", Set{}, 24, 1},
		{"rank", Of(3), 24, 3},
		{"million", Range(0, 999_999), 24, 5},
		{"64 near a million", Range(1_000_000, 1_000_063), 24, 5},
		{"every second of 128 near a million", every(1_000_000, 64, 2), 24, 7},
		{"every 200th of a million", every(7, 5_000, 200), 24, 7},
		{"the first four of each 64 of a million", every(0, 15_625, 64).Union(every(1, 15_625, 64)).Union(every(2, 31_250, 32).Minus(every(34, 15_625, 64))), 24, 6},
		{"most of every second of 128 near a million", uneven(1_000_000, 64, 2), 24 + 64 + 32, 32},
		{"most of every third of 192 near a million", uneven(1_000_000, 64, 3), 24 + 64 + 40, 40},
		{"64 distant ones, except one", uneven(0, 64, 15_000), 24 + 32 + 64*8, 64*3 + 2},
		{"two halves", Range(0, 499_998).Union(Range(500_000, 999_999)), 24 + 32 + 16, 10},
		{"most of every second of a million", uneven(0, 500_000, 2), 24 + 64 + 125_000, 125_000 + 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, said := size(c.set), c.set.Size(); got > said+64 || said > got {
				t.Errorf("%d bytes in memory, Size says %d", got, said)
			}
			if got := size(c.set); got > c.memory {
				t.Errorf("%d bytes in memory, want at most %d", got, c.memory)
			}
			if got := len(c.set.AppendWire(nil)); got > c.wire {
				t.Errorf("%d bytes on the wire, want at most %d", got, c.wire)
			}
		})
	}
}

func TestSetForms(t *testing.T) {
	sparse, dense, even := Of(1, 5, 900), uneven(0, 100, 2), every(0, 100, 2)
	if sparse.more.runs == nil || dense.bits() == nil || even.pace == 0 {
		t.Fatalf("%v is not held as runs, or %v not as bits, or %v not by its pace", sparse, dense, even)
	}
	if even.pace != paced(2, 1) || Of(3, 9).pace != paced(6, 1) || Of(0, 1, 4, 5).pace != paced(4, 2) {
		t.Errorf("the pace of %v is %x", even, even.pace)
	}
	for _, half := range []Set{dense.Union(Of(196)), even} {
		if whole := half.Union(every(1, 100, 2)); !whole.contiguous() || whole.String() != "0-199" {
			t.Errorf("two halves make %v", whole)
		}
		if few := half.Intersect(Range(3, 5)); !few.Equal(Of(4)) || !few.contiguous() {
			t.Errorf("a cut makes %v", few)
		}
	}
}

func TestRangeAndOf(t *testing.T) {
	if s := Range(5, 4); !s.IsEmpty() {
		t.Errorf("a backward range is %v", s)
	}
	if s := Of(); !s.Equal(Set{}) {
		t.Errorf("a set of nothing is %v", s)
	}
	if s := Of(MaxID, 0, MaxID); s.String() != "0,16777215" || s.Len() != 2 {
		t.Errorf("the outermost ranks are %v", s)
	}
	for name, make := range map[string]func(){
		"rank below 0":   func() { Of(3, -1) },
		"rank too high":  func() { Of(MaxID + 1) },
		"range below 0":  func() { Range(-1, 3) },
		"range too high": func() { Range(0, MaxID+1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			make()
		})
	}
}

func TestFirst(t *testing.T) {
	s := Of(1, 2, 3, 7, 9)
	for n, want := range map[int]string{-1: "", 0: "", 1: "1", 3: "1-3", 4: "1-3,7", 5: "1-3,7,9", 99: "1-3,7,9"} {
		if got := s.First(n).String(); got != want {
			t.Errorf("the first %d are %q, want %q", n, got, want)
		}
	}
	if got := Range(4, 9).First(2).String() + (Set{}).First(2).String(); got != "4-5" {
		t.Errorf("the first two of 4-9 are %q", got)
	}
}

func TestIteratorsStop(t *testing.T) {
	for _, s := range []Set{Range(0, 9), Of(0, 5, 900), every(0, 100, 2), uneven(0, 100, 2)} {
		for id := range s.All() {
			if id != 0 {
				t.Errorf("%v: %d after the end", s, id)
			}
			break
		}
		for range s.Ranges() {
			break
		}
	}
}

func TestJSON(t *testing.T) {
	var v struct {
		S Set `json:"s"`
	}
	for text, want := range map[string]string{
		`{"s":""}`: `{"s":""}`, `{}`: `{"s":""}`, `{"s":"0-3,7"}`: `{"s":"0-3,7"}`, `{"s":"7,1,0-2"}`: `{"s":"0-2,7"}`,
	} {
		v.S = Set{}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s gives %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestUnmarshalTextErrors(t *testing.T) {
	for text, want := range map[string]string{
		",":                      "expected a rank",
		"1,":                     "expected a rank",
		"-1":                     "expected a rank",
		"1-":                     "expected a rank",
		"3-1":                    "range 3-1 runs backwards; write 1-3",
		"x":                      `"x" is not a rank`,
		" 1":                     `" 1" is not a rank`,
		"16777216":               "rank 16777216 is beyond 16777215",
		strings.Repeat("9", 500): "is beyond 16777215",
	} {
		s := Of(5)
		err := s.UnmarshalText([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 250 {
			t.Errorf("%.20q: error %v, want %q in it", text, err, want)
		}
		if s.String() != "5" {
			t.Errorf("%.20q: the set is now %q", text, s)
		}
	}
}

func TestDecodeWireErrors(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":                 {},
		"half a number":           {0x80},
		"runs missing":            {2 << 1},
		"more runs than bytes":    {0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0},
		"half a run":              {1 << 1, 5},
		"run beyond the highest":  {1 << 1, 0, 0xff, 0xff, 0xff, 0x08},
		"gap beyond the highest":  {1 << 1, 0xff, 0xff, 0xff, 0x08, 0},
		"gap of 2^64-1":           {1 << 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1},
		"words missing":           {1<<1 | 1, 0, 1, 2, 3},
		"more words than bytes":   {0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0},
		"base beyond the highest": append([]byte{1<<1 | 1, 0x80, 0x80, 0x10}, 1, 0, 0, 0, 0, 0, 0, 0),
		"base missing":            {1<<1 | 1},
		"step missing":            {pacedHead, 5, 0},
		"length beyond":           {pacedHead, 0, 0xff, 0xff, 0xff, 0x08, 0, 0},
		"step beyond the highest": {pacedHead, 0, 0, 0xff, 0xff, 0xff, 0x07, 0},
		"too many steps":          {pacedHead, 0, 0, 0, 0xff, 0xff, 0xff, 0x03},
		"2^64-1 steps":            {pacedHead, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	} {
		if s, _, err := DecodeWire(b); err == nil {
			t.Errorf("%s: %v", name, s)
		}
	}
}

func FuzzDecodeWire(f *testing.F) {
	for _, s := range []Set{{}, Of(3), Range(0, 999_999), Of(1, 5, 900), every(1_000_000, 64, 2), uneven(1_000_000, 64, 2), Of(0, 1, 8, 9, 16, 17), Of(MaxID)} {
		f.Add(s.AppendWire(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, rest, err := DecodeWire(b)
		if err != nil {
			return
		}
		if read := len(b) - len(rest); size(s) > 100+8*read {
			t.Errorf("%d bytes of memory for %d bytes", size(s), read)
		}
		again, rest, err := DecodeWire(s.AppendWire(nil))
		if err != nil || len(rest) > 0 || !again.Equal(s) {
			t.Errorf("%v is decoded as %v, rest %d, %v", s, again, len(rest), err)
		}
		if last, ok := s.Max(); ok && last > MaxID {
			t.Errorf("rank %d", last)
		}
		if own := Of(slices.Collect(s.First(1000).All())...); !own.Equal(s.First(1000)) {
			t.Errorf("%v is not in the form of its members", own)
		}
	})
}

func BenchmarkUnion(b *testing.B) {
	for _, c := range []struct {
		name string
		s, t Set
	}{
		{"ranges that touch", Range(0, 511), Range(512, 1023)},
		{"separate ranges", Range(0, 511), Range(600, 1023)},
		{"runs", uneven(0, 50, 1000), uneven(500, 50, 1000)},
		{"4k bits", uneven(0, 2048, 2), uneven(0, 1024, 3)},
		{"1M bits", uneven(0, 500_000, 2), uneven(0, 333_333, 3)},
		{"range and 1M bits", Range(0, 10), uneven(0, 333_333, 3)},
		{"steps that go on", every(7, 2500, 200), every(500_007, 2500, 200)},
		{"every 200th, twice", every(7, 5000, 200), every(8, 5000, 200)},
		{"even and odd", every(0, 500_000, 2), every(1, 500_000, 2)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.s.Union(c.t)
			}
		})
	}
}

func BenchmarkWire(b *testing.B) {
	for _, s := range []Set{Range(0, 999_999), every(0, 2048, 2), uneven(0, 10, 100), uneven(0, 2048, 2)} {
		wire := s.AppendWire(nil)
		name := fmt.Sprintf("%d ranks, %d bytes", s.Len(), len(wire))
		b.Run("append "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				wire = s.AppendWire(wire[:0])
			}
		})
		b.Run("decode "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := DecodeWire(wire); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkContains(b *testing.B) {
	for _, s := range []Set{Range(0, 999_999), every(0, 2048, 2), uneven(0, 1000, 1000), uneven(0, 2048, 2)} {
		b.Run(fmt.Sprintf("%d ranks", s.Len()), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Contains(1024)
			}
		})
	}
}
