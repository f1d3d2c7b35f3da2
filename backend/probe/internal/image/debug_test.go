package image

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"testing"
)

// units makes the .debug_info of n units of DWARF 4 without entries, whose tables of abbreviations begin distance bytes after one another.
func units(n, distance int) (info []byte) {
	for i := range n {
		info = binary.LittleEndian.AppendUint32(info, 8)
		info = binary.LittleEndian.AppendUint16(info, 4)
		info = binary.LittleEndian.AppendUint32(info, uint32(i*distance))
		info = append(info, 8, 0)
	}
	return info
}

// abbreviations makes n of them in tables of some each.
func abbreviations(n, some int) (b []byte) {
	for i := range n {
		b = append(b, 1, 0x11, 1, 3, 8, 0, 0) // a compilation unit with a name
		if i%some == some-1 {
			b = append(b, 0)
		}
	}
	return append(b, 0)
}

func TestCheckAbbreviations(t *testing.T) {
	const n = 20_000
	for name, c := range map[string]struct {
		info, abbrev []byte
		want         error
	}{
		"one table of all units":   {units(n, 0), abbreviations(n, n), nil},
		"a table of each unit":     {units(n, 8), abbreviations(n, 1), nil},
		"tables that overlap":      {units(n, 7), abbreviations(n, n), errAbbreviations},
		"tables without an end":    {units(n, 1), abbreviations(n, n)[:7*n], errAbbreviations},
		"tables after the end":     {units(n, 1<<16), abbreviations(1, 1), nil},
		"a unit that is cut":       {units(2, 0)[:17], abbreviations(1, 1), nil},
		"no units":                 {nil, abbreviations(1, 1), nil},
		"no tables":                {units(n, 1), nil, nil},
		"the 64-bit format is cut": {[]byte{255, 255, 255, 255, 1}, nil, nil},
	} {
		if err := checkAbbreviations(c.info, c.abbrev); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFirstEntries(t *testing.T) {
	info := units(2, 0)
	info = append(info, 10, 0, 0, 0, 5, 0, compileUnit, 8, 0, 0, 0, 0, 1, 0)                     // DWARF 5
	info = append(info, 10, 0, 0, 0, 5, 0, 2, 8, 0, 0, 0, 0, 1, 0)                               // a type unit
	info = append(info, 255, 255, 255, 255, 14, 0, 0, 0, 0, 0, 0, 0, 5, 0, compileUnit, 8, 0, 0) // 64-bit format
	info = append(info, 0, 0, 0, 0, 0, 0, 1, 0)
	want := []dwarf.Offset{11, 23, 36, 24 + 28 + 24}
	got := firstEntries(info)
	if len(got) != len(want) {
		t.Fatal(got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// BenchmarkOverlappingAbbreviations has 4,000 units in 28 KB of overlapping tables; without the check it takes as
// long as 4,000 × 28 KB.
func BenchmarkOverlappingAbbreviations(b *testing.B) {
	info, abbrev := units(4000, 7), abbreviations(4000, 4000)
	for b.Loop() {
		if checkAbbreviations(info, abbrev) == nil {
			b.Fatal("they are accepted")
		}
	}
}
