package image

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

const mapsText = `555555554000-555555555000 r--p 00000000 fe:00 133                        /tmp/my work
555555555000-555555556000 r-xp 00001000 fe:00 133                        /tmp/my work
7ffff7fc9000-7ffff7fcb000 r-xp 00000000 00:00 0                          [vdso]
7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0                          [stack]
`

func TestParseMaps(t *testing.T) {
	maps := ParseMaps([]byte(mapsText+"no mapping\n9-8 r--p 0 0 0\n"), Names{})
	if len(maps) != 4 {
		t.Fatalf("%d mappings: %+v", len(maps), maps)
	}
	want := Mapping{Start: 0x555555555000, End: 0x555555556000, Offset: 0x1000, Executable: true, File: "fe:00 133", Path: "/tmp/my work"}
	if maps[1] != want {
		t.Errorf("%+v, want %+v", maps[1], want)
	}
	if m := At(maps, 0x555555555fff); m == nil || *m != want {
		t.Errorf("At: %+v", m)
	}
	if m := At(maps, 0x555555556000); m != nil {
		t.Errorf("At between mappings: %+v", m)
	}
}

// TestHaveCode compares with what is meant: from a mapping on, one of the same file is executable before one of another file.
func TestHaveCode(t *testing.T) {
	has := func(maps []Mapping) bool {
		for _, m := range maps {
			switch {
			case m.File == maps[0].File && m.Executable:
				return true
			case m.File != maps[0].File && m.File != "":
				return false
			}
		}
		return false
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		maps := make([]Mapping, random.IntN(8))
		for i := range maps {
			maps[i] = Mapping{File: []string{"", "a", "b"}[random.IntN(3)], Executable: random.IntN(4) == 0}
		}
		for i, got := range haveCode(maps) {
			if maps[i].File != "" && got != has(maps[i:]) {
				t.Fatalf("%d of %+v: %v", i, maps, got)
			}
		}
	}
}

// TestManyMappingsOfOneFile: a file that is mapped as data again and again is an image a few times, and its beginnings are
// not read for each mapping.
func TestManyMappingsOfOneFile(t *testing.T) {
	maps := make([]Mapping, 30_000)
	for i := range maps {
		maps[i] = Mapping{Start: uint64(i) << 12, End: uint64(i+1) << 12, File: "1", Executable: i%2 == 0}
	}
	heads := 0
	Modules(maps, func(h []Head) { heads = len(h) }, new([]byte))
	if heads != maxTimes {
		t.Errorf("%d beginnings were read", heads)
	}
}

// program compiles a program with a function work and returns it.
func program(t testing.TB, flags ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "program")
	cc := exec.Command("gcc", append(flags, "-o", out, "-x", "c", "-")...)
	cc.Stdin = strings.NewReader("int work(void) { return 1; } int main(void) { return work(); }")
	if text, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestReadSymbols(t *testing.T) {
	t.Run("own", func(t *testing.T) { testReadSymbols(t) })
	t.Run("exported", func(t *testing.T) { testReadSymbols(t, "-rdynamic", "-s") })
}

func testReadSymbols(t *testing.T, flags ...string) {
	s, id, err := ReadSymbols(program(t, flags...))
	if err != nil || len(id) < 16 {
		t.Fatalf("build-id %q, %v", id, err)
	}
	at, ok := s.Address("work")
	if f, _ := s.Function(at); !ok || f.Name != "work" || f.First != at || f.Size == 0 {
		t.Errorf("at %#x is %+v", at, f)
	}
	if at, ok := s.Address("wor"); ok {
		t.Errorf("wor is at %#x", at)
	}
}

// loaded is the memory of an image as it is loaded at an address.
type loaded struct {
	at    uint64
	bytes []byte
}

func load(t testing.TB, file []byte, at uint64) loaded {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	l := loaded{at: at}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			l.bytes = append(l.bytes, make([]byte, max(0, int(p.Vaddr+p.Memsz)-len(l.bytes)))...)
			copy(l.bytes[p.Vaddr:], file[p.Off:p.Off+p.Filesz])
		}
	}
	return l
}

func (l loaded) Read(addr uint64, b []byte) bool {
	from := addr - l.at
	if addr < l.at || from > uint64(len(l.bytes)) || uint64(len(b)) > uint64(len(l.bytes))-from {
		return false
	}
	copy(b, l.bytes[from:])
	return true
}

// TestDynamicSymbols reads what a library exports from its memory alone.
func TestDynamicSymbols(t *testing.T) {
	for _, hash := range []string{"gnu", "sysv"} {
		file := program(t, "-shared", "-fPIC", "-Wl,-soname,libwork.so.1", "-Wl,--hash-style="+hash)
		mem := load(t, file, 0x7f0000000000)
		m, ok := parse(mem.bytes[:headSize], mem.at)
		if !ok {
			t.Fatalf("%+v", m)
		}
		s := m.DynamicSymbols(mem)
		want, _, err := ReadSymbols(file)
		if err != nil || s == nil || s.SharedName != "libwork.so.1" || s.count == 0 {
			t.Fatalf("%s: %+v, %v", hash, s, err)
		}
		for _, name := range []string{"work", "main"} {
			at, ok := s.Address(name)
			if there, _ := want.Address(name); !ok || at != there || s.Name(at+1) != name {
				t.Errorf("%s: %s is at %#x, want %#x", hash, name, at, there)
			}
		}
	}
}

type namedSymbol struct {
	addr, size uint64
	name       string
}

// symbolsOf returns symbols of functions.
func symbolsOf(list []namedSymbol) *Symbols {
	t := &table{names: []byte{0}}
	for _, x := range list {
		b := binary.LittleEndian.AppendUint32(nil, uint32(len(t.names)))
		b = append(b, byte(elf.STT_FUNC), 0, 1, 0)
		b = binary.LittleEndian.AppendUint64(b, x.addr)
		t.entries = append(t.entries, binary.LittleEndian.AppendUint64(b, x.size)...)
		t.names = append(append(t.names, x.name...), 0)
	}
	s := &Symbols{}
	s.add(t)
	return s
}

// TestManySymbols compares with a list that is sorted as a whole.
func TestManySymbols(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var list []namedSymbol
	for i := range 3000 {
		list = append(list, namedSymbol{1 + r.Uint64N(20_000), 1 + r.Uint64N(20), fmt.Sprint("f", i)})
	}
	s := symbolsOf(list)
	slices.SortFunc(list, func(a, b namedSymbol) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name)) })
	nameless := 0
	for addr := range uint64(20_100) {
		want := ""
		end := sort.Search(len(list), func(i int) bool { return list[i].addr > addr })
		for _, x := range slices.Backward(list[max(end-nearby, 0):end]) {
			if addr-x.addr < x.size {
				want = x.name
				break
			}
		}
		if name := s.Name(addr); name != want {
			t.Fatalf("%d is %q, want %q", addr, name, want)
		}
		if want == "" {
			nameless++
		}
	}
	if nameless == 0 || nameless > 10_000 {
		t.Errorf("%d addresses are in no function", nameless)
	}
	for _, x := range list {
		if at, ok := s.Address(x.name); !ok || at != x.addr {
			t.Errorf("%s is at %d, %v", x.name, at, ok)
		}
	}
}

func TestSymbolNames(t *testing.T) {
	s := symbolsOf([]namedSymbol{{0x20, 0, "label"}, {0x10, 0x30, "outer"}, {0x20, 8, "__poll"}, {0x20, 8, "poll"}, {0x60, 0, "end"}})
	for addr, want := range map[uint64]string{0xf: "", 0x10: "outer", 0x20: "poll", 0x27: "poll", 0x28: "outer", 0x40: "", 0x70: "end"} {
		if name := s.Name(addr); name != want {
			t.Errorf("%#x is %q, want %q", addr, name, want)
		}
	}
}

func TestBuildID(t *testing.T) {
	note := []byte{4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0, 0}
	other := append([]byte{4, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 'G', 'N', 'U', 0, 1, 0, 0, 0}, note...)
	for _, b := range [][]byte{note, other} {
		if id := buildID(b); id != "abcd" {
			t.Errorf("%q", id)
		}
	}
}

// page is the memory of an image at 4096. Zeros follow it.
type page []byte

func (p page) Read(addr uint64, b []byte) bool {
	if addr < 4096 || addr > 1<<20 {
		return false
	}
	clear(b)
	if at := addr - 4096; at < uint64(len(p)) {
		copy(b, p[at:])
	}
	return true
}

// FuzzImage reads hostile headers and symbol tables.
func FuzzImage(f *testing.F) {
	f.Add(program(f)[:960]) // its headers and notes
	f.Fuzz(func(t *testing.T, b []byte) {
		maps := []Mapping{{Start: 4096, End: 1 << 20, Executable: true, File: "1 1"}}
		for _, m := range Modules(maps, func(all []Head) {
			for i := range all {
				all[i].Read = page(b).Read(all[i].Addr, all[i].Bytes)
			}
		}, new([]byte)) {
			if m.First >= m.End {
				t.Errorf("from %#x to %#x", m.First, m.End)
			}
			_ = m.Table(page(b))
			_ = m.DynamicSymbols(page(b)).Name(m.First)
		}
		if s, _, err := ReadSymbols(b); err == nil {
			_ = s.Name(0x1130)
			_, _ = s.Address("work")
		}
		if l, err := ReadLines(b); err == nil {
			_ = l.At(0x1130)
		}
	})
}

func FuzzParseMaps(f *testing.F) {
	f.Add(mapsText)
	f.Fuzz(func(t *testing.T, text string) {
		maps := ParseMaps([]byte(text), Names{})
		for i, m := range maps {
			if m.Start >= m.End || i > 0 && maps[i-1].Start > m.Start {
				t.Errorf("%+v", maps)
			}
		}
	})
}

// FuzzLines damages the symbols and the debug information of a program.
func FuzzLines(f *testing.F) {
	whole := program(f, "-g", "-O2")
	f.Add(uint32(len(whole)/2), uint32(4), byte(0xff))
	f.Fuzz(func(t *testing.T, from, n uint32, with byte) {
		b := bytes.Clone(whole)
		at := int(from) % len(b)
		for i := range b[at:min(at+int(n%64), len(b))] {
			b[at+i] ^= with
		}
		if s, _, err := ReadSymbols(b); err == nil {
			_, _ = s.Address("work")
			_, _ = s.Function(0x1130)
		}
		l, err := ReadLines(b)
		if err != nil {
			return
		}
		for addr := uint64(0x1000); addr < 0x1200; addr += 16 {
			for _, p := range l.At(addr) {
				if p.Line < 0 {
					t.Errorf("line %d", p.Line)
				}
			}
		}
	})
}
