package unwind

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sdm/backend/probe/internal/cfi"
)

// record runs the program for arm64, which needs its compiler and an emulator, and keeps what it has written.
var record = flag.Bool("record", false, "run testdata/arm64.c by qemu-aarch64 and keep its image, registers and stack")

// images are how the program was compiled.
var images = map[string]string{
	"O0":  "-O0",
	"O2":  "-O2 -fomit-frame-pointer",
	"pac": "-O2 -mbranch-protection=pac-ret+leaf -march=armv8.3-a",
	"bti": "-O3 -fno-omit-frame-pointer -mbranch-protection=standard -march=armv8.5-a",
}

// pieces are the memory of the program: its image, and what it has written.
type pieces []memory

func (p pieces) Read(addr uint64, b []byte) bool {
	return slices.ContainsFunc(p, func(m memory) bool { return m.Read(addr, b) })
}

// stored is the program at one instant. It implements Code.
type stored struct {
	pieces
	text      memory
	table     *cfi.Table // nil: it is hidden
	registers cfi.Registers
	expected  []uint64 // program counters of its frames
}

func (s *stored) Find(pc uint64) (Tables, uint64, string) {
	if s.table == nil || pc-s.text.at >= uint64(len(s.text.b)) {
		return nil, 0, "program"
	}
	return s.table, 0, "program"
}

// Executable implements Code: the code to which handlers of signals return is in a page of its own.
func (s *stored) Executable(pc uint64) bool {
	return pc-s.text.at < uint64(len(s.text.b)) || pc-s.expected[1]+4 < 20
}
func (s *stored) Function(uint64) (uint64, bool)            { return 0, false }
func (s *stored) Derived(uint64, uint64) (*cfi.Row, uint64) { return nil, 0 }

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// read returns the program with a name as it was stored.
func read(t *testing.T, name string) *stored {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(unpacked(t, filepath.Join("testdata", "arm64-"+name+".elf.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{}
	var header uint64
	for _, p := range f.Progs {
		b := make([]byte, p.Filesz)
		switch _, err := p.ReadAt(b, 0); {
		case err != nil && err != io.EOF:
			t.Fatal(err)
		case p.Type == elf.PT_LOAD:
			s.pieces = append(s.pieces, memory{p.Vaddr, b})
		case p.Type == elf.PT_GNU_EH_FRAME:
			header = p.Vaddr
		}
	}
	text := f.Section(".text")
	s.text = memory{text.Addr, make([]byte, text.Size)}
	for b := unpacked(t, filepath.Join("testdata", "arm64-"+name+".dump.gz")); len(b) >= 16; {
		addr, size := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		m := memory{addr, b[16 : 16+size]}
		b = b[16+size:]
		for n := uint64(0); addr < 2 && n < size; n += 8 {
			v := binary.LittleEndian.Uint64(m.b[n:])
			if addr == 0 {
				s.registers.Set(n/8, v)
			} else {
				s.expected = append(s.expected, v)
			}
		}
		if addr >= 2 {
			s.pieces = append(s.pieces, m)
		}
	}
	pc, _ := s.registers.Get(ARM64.PC)
	s.expected[0] = pc
	if s.table, err = cfi.NewTable(s, header); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestARM64 follows stacks of programs for arm64 that were stored: a handler of a signal that came in a function
// without a frame, below functions with and without frame pointers, some with signed return addresses. The
// program has recorded what they are.
func TestARM64(t *testing.T) {
	for name, flags := range images {
		t.Run(flags, func(t *testing.T) {
			if *record {
				keep(t, name, flags)
			}
			s := read(t, name)
			w := Walker{Machine: ARM64, Code: s, Memory: s, SignMask: 0x7f << 48}
			got := w.Walk(s.registers)
			if pcs := addresses(got); !slices.Equal(pcs, s.expected) || got.Cut != "" || len(pcs) < 10 {
				t.Errorf("%#x, %q; the program has recorded %#x", pcs, got.Cut, s.expected)
			}
			if !got.Frames[1].Signal || !got.Frames[2].Exact {
				t.Errorf("the frame of the signal: %+v", got.Frames[1:3])
			}
		})
	}
}

// TestARM64WithoutTables hides the tables of a program with frame pointers. The function without a frame is
// left by its return address.
func TestARM64WithoutTables(t *testing.T) {
	s := read(t, "bti")
	s.table = nil
	w := Walker{Machine: ARM64, Code: s, Memory: s, SignMask: 0x7f << 48}
	got := w.Walk(s.registers)
	missing := 0
	for _, pc := range s.expected {
		if !slices.Contains(addresses(got), pc) {
			missing++
		}
	}
	if len(got.Frames) < 5 || missing > 2 {
		t.Errorf("%#x, %q; the program has recorded %#x", addresses(got), got.Cut, s.expected)
	}
}

// keep compiles the program and runs it.
func keep(t *testing.T, name, flags string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	line := append(strings.Fields(flags), "-static", "-nostdlib", "-ffreestanding", "-fasynchronous-unwind-tables", "-fno-stack-protector",
		"-Wl,--build-id=none,--eh-frame-hdr,-z,max-page-size=4096,-s", "-o", path, "testdata/arm64.c")
	if out, err := exec.Command("aarch64-linux-gnu-gcc", line...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dump, err := exec.Command("qemu-aarch64", "-cpu", "max", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for suffix, b := range map[string][]byte{"elf": program, "dump": dump} {
		var z bytes.Buffer
		w, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
		_, err1 := w.Write(b)
		err2 := w.Close()
		err3 := os.WriteFile(fmt.Sprintf("testdata/arm64-%s.%s.gz", name, suffix), z.Bytes(), 0o644)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
	}
}
