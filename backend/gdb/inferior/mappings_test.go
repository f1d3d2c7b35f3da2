package inferior

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
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

func TestLibraries(t *testing.T) {
	got := libraries(someMaps, "/tmp/work")
	want := []Span{{0x7f0000200000, 0x7f0000226000}, {0x7f0000226000, 0x7f0000230000}, {0x7f0000230000, 0x7f0000240000}}
	if !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestMaps asks for the mappings of a process that is stopped, and of one that has run since.
func TestMaps(t *testing.T) {
	cat := exec.Command("cat")
	in, err := cat.StdinPipe()
	if err == nil {
		err = cat.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Wait()
	defer cat.Process.Kill() // it is stopped
	defer in.Close()
	pid := cat.Process.Pid
	cat.Process.Signal(syscall.SIGSTOP)
	if err := AwaitFrozen(pid); err != nil {
		t.Fatal(err)
	}
	var m Maps
	text, err := m.of(pid)
	if want, _ := mapsOf(pid); err != nil || text != want || want == "" {
		t.Fatalf("%q, %v", text, err)
	}
	const marked = "as before"
	mark := func() { m.texts[pid] = mapsText{m.texts[pid].ran, marked} }
	mark()
	if text, _ := m.of(pid); text != marked {
		t.Error("mappings of a process that has not run are read again")
	}
	for range 2 {
		cat.Process.Signal(syscall.SIGCONT)
		cat.Process.Signal(syscall.SIGSTOP)
		if err := AwaitFrozen(pid); err != nil {
			t.Fatal(err)
		}
		if got, _ := m.of(pid); got == marked {
			t.Error("mappings of a process that has run are not read again")
		}
		mark()
	}
	self := os.Getpid()
	m = Maps{}
	m.of(pid)
	if m.of(self); len(m.texts) != 2 || m.size != len(m.texts[pid].text)+len(m.texts[self].text) {
		t.Errorf("%d texts and %d bytes are kept", len(m.texts), m.size)
	}
	m.size = 2 * maxMaps
	if m.of(self); len(m.texts) != 1 || m.size != len(m.texts[self].text) {
		t.Errorf("%d texts and %d bytes are kept", len(m.texts), m.size)
	}
	if _, err := m.of(0); err == nil {
		t.Error("process 0 has mappings")
	}
}

// FuzzLibraries checks for any input that each range starts before its end, and that files without
// code are not libraries.
func FuzzLibraries(f *testing.F) {
	f.Add(someMaps, "/tmp/work")
	f.Add("0-ffffffffffffffff r-xp 0 0 0 /x\n1-0 r-xp 0 0 0 /x\n", "")
	f.Fuzz(func(t *testing.T, maps, program string) {
		all := libraries(maps, program)
		for _, s := range all {
			if s.First >= s.End {
				t.Errorf("%x", s)
			}
		}
		if len(all) > 0 && !strings.Contains(maps, "x") || len(all) > strings.Count(maps, "\n")+1 {
			t.Errorf("%q: %x", maps, all)
		}
	})
}

func TestParseMapping(t *testing.T) {
	for _, c := range []struct {
		line string
		want mapping
		ok   bool
	}{
		{"55555000-55556000 r-xp 00001000 fe:00 133 /tmp/a b\n", mapping{Span{0x55555000, 0x55556000}, true, 0x1000, 133, "/tmp/a b"}, true},
		{"55555000-55556000 rw-p 00001000 fe:00 133 /tmp/a\n", mapping{Span{0x55555000, 0x55556000}, false, 0x1000, 133, "/tmp/a"}, true},
		{"7fff0000-7fff1000 r-xp 00000000 00:00 0 [vdso]\n", mapping{Span{0x7fff0000, 0x7fff1000}, true, 0, 0, "[vdso]"}, true},
		{"7fff0000-7fff1000 rw-p 00000000 00:00 0\n", mapping{Span{0x7fff0000, 0x7fff1000}, false, 0, 0, ""}, true},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n", mapping{Span{0xffffffffff600000, 0xffffffffff601000}, true, 0, 0, "[vsyscall]"}, true},
		{"", mapping{}, false},
		{"x-y r-xp 0 0 1 /a", mapping{}, false},
		{"2-1 r-xp 0 0 1 /a", mapping{}, false},
	} {
		if got, ok := parseMapping(c.line); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: %+v %v", c.line, got, ok)
		}
	}
}
