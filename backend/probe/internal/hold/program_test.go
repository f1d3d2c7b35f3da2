package hold

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sdm/backend/probe/internal/proc"
)

func TestCleanMappings(t *testing.T) {
	const text = `00400000-00401000 r-xp 00000000 fe:00 133 /bin/own
Size:                  4 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me sd
00401000-00402000 r--p 00001000 fe:00 133 /bin/own
Anonymous:             4 kB
00402000-00403000 rw-p 00002000 fe:00 133 /bin/own
Anonymous:             0 kB
00403000-00404000 r--p 00000000 fe:00 134 /bin/other
Anonymous:             0 kB
00404000-00405000 r--p 00000000 00:00 0
Anonymous:             0 kB
00405000-00407000 r--p 00003000 fe:00 133 /bin/own
Anonymous:             0 kB
`
	want := [][2]uintptr{{0x400000, 0x401000}, {0x405000, 0x407000}}
	if got := cleanMappings(text, "/bin/own"); !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}

// TestUnloadProgram checks that the code of this program leaves its memory, and that it goes on.
func TestUnloadProgram(t *testing.T) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	loaded := func() (kb int) { // of the mappings that are released
		text := proc.Text("/proc/self/smaps")
		for _, m := range cleanMappings(text, exe) {
			_, mapping, _ := strings.Cut(text, strconv.FormatUint(uint64(m[0]), 16)+"-")
			_, size, _ := strings.Cut(mapping, "\nRss:")
			n, err := strconv.Atoi(strings.Fields(size)[0])
			if err != nil {
				t.Fatal(err)
			}
			kb += n
		}
		return kb
	}
	for _, m := range cleanMappings(proc.Text("/proc/self/smaps"), exe) {
		if !Memory(os.Getpid()).Read(uint64(m[0]), make([]byte, m[1]-m[0])) {
			t.Fatalf("%#x cannot be read", m)
		}
	}
	before := loaded()
	UnloadProgram()
	if after := loaded(); before < 100 || after > before/2 {
		t.Errorf("%d kB were loaded, and %d kB are", before, after)
	}
}
