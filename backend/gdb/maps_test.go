package gdb

import (
	"slices"
	"strings"
	"testing"
)

const someMaps = `555555554000-555555555000 r--p 00000000 fe:00 133 /tmp/work
555555555000-555555556000 r-xp 00001000 fe:00 133 /tmp/work
555555556000-555555557000 rw-p 00002000 fe:00 133 /tmp/work
555555557000-555555558000 rw-p 00000000 00:00 0
555555600000-555555621000 rw-p 00000000 00:00 0                          [heap]
7f0000000000-7f0000100000 rw-s 00000000 00:01 7 /dev/shm/of all ranks
7f0000200000-7f0000226000 r--p 00000000 fe:00 140 /lib/a library.so (deleted)
7f0000226000-7f0000230000 r-xp 00026000 fe:00 140 /lib/a library.so (deleted)
7f0000230000-7f0000240000 rw-p 00000000 00:00 0
7f0000250000-7f0000260000 rw-p 00000000 00:00 0
7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]
`

func TestLibrarySpans(t *testing.T) {
	got := librarySpans(strings.NewReader(someMaps), "/tmp/work")
	want := []span{{0x7f0000200000, 0x7f0000226000}, {0x7f0000226000, 0x7f0000230000}, {0x7f0000230000, 0x7f0000240000}}
	if !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// Whatever the kernel writes, a range has a first address before its end, and what has no code is no library.
func FuzzLibrarySpans(f *testing.F) {
	f.Add(someMaps, "/tmp/work")
	f.Add("0-ffffffffffffffff r-xp 0 0 0 /x\n1-0 r-xp 0 0 0 /x\n", "")
	f.Fuzz(func(t *testing.T, maps, program string) {
		all := librarySpans(strings.NewReader(maps), program)
		for _, s := range all {
			if s.first >= s.end {
				t.Errorf("%x", s)
			}
		}
		if len(all) > 0 && !strings.Contains(maps, "x") || len(all) > strings.Count(maps, "\n")+1 {
			t.Errorf("%q: %x", maps, all)
		}
	})
}

func TestLibraryPattern(t *testing.T) {
	if got, want := libraryPattern(`/opt/c++ [new]/a*b\lib.so`), "^/opt/c.. .new./a.b.lib.so$"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
