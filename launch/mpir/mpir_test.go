package mpir

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// fake is a starter's memory: the bytes from address base on.
type fake struct {
	bytes   []byte
	symbols map[string]symbol
}

const base = 0x1000

func (f *fake) Symbol(name string) (uint64, uint64, bool) {
	s, ok := f.symbols[name]
	return s.addr, s.size, ok
}

func (f *fake) Read(addr uint64, p []byte) error {
	if addr < base || addr-base > uint64(len(f.bytes)) || uint64(len(p)) > uint64(len(f.bytes))-(addr-base) {
		return errors.New("nothing is there")
	}
	copy(p, f.bytes[addr-base:])
	return nil
}

func (f *fake) Write(addr uint64, p []byte) error {
	if err := f.Read(addr, make([]byte, len(p))); err != nil {
		return err
	}
	copy(f.bytes[addr-base:], p)
	return nil
}

// newFake makes a table, its two variables before it, and the text "host\0app\0".
func newFake(size int32, pids ...int32) *fake {
	f := &fake{symbols: map[string]symbol{
		symTableSize: {base, 4}, symTable: {base + 8, 8}, symBeingDebugged: {base + 4, 4},
	}}
	const text, table = base + 16, base + 32
	b := binary.LittleEndian.AppendUint32(nil, uint32(size))
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, table)
	b = append(b, "host\x00app\x00xxxxxxx"...)
	for _, pid := range pids {
		b = binary.LittleEndian.AppendUint64(b, text)
		b = binary.LittleEndian.AppendUint64(b, text+5)
		b = binary.LittleEndian.AppendUint32(b, uint32(pid))
		b = append(b, 0, 0, 0, 0)
	}
	f.bytes = append(b, make([]byte, 512)...)
	return f
}

func TestReadTable(t *testing.T) {
	table, err := ReadTable(newFake(2, 11, 12))
	if err != nil || len(table) != 2 || table[1].Host != "host" || table[1].Program != "app" || table[1].PID != 12 || table[1].Rank != 1 {
		t.Fatalf("%+v, %v", table, err)
	}
	for _, c := range []struct {
		name, want string
		spoil      func(f *fake)
		f          *fake
	}{
		{"negative size", "is no number of ranks", func(*fake) {}, newFake(-1)},
		{"size beyond all ranks", "is no number of ranks", func(*fake) {}, newFake(1<<31 - 1)},
		{"more than is there", "nothing is there", func(*fake) {}, newFake(1000, 1)},
		{"no process", "not a process id", func(*fake) {}, newFake(1, -5)},
		{"no host", "has no host", func(f *fake) { clear(f.bytes[32:40]) }, newFake(1, 5)},
		{"wild pointer", "host of rank 0", func(f *fake) { f.bytes[39] = 0x7f }, newFake(1, 5)},
		{"no table", "no MPIR", func(f *fake) { delete(f.symbols, symTable) }, newFake(1, 5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.spoil(c.f)
			if _, err := ReadTable(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTextsAreBounded(t *testing.T) {
	f := newFake(1, 5)
	f.bytes = append(f.bytes[:16:16], strings.Repeat("h", maxHost+pageSize)...)
	if _, err := readText(f, base+16, maxHost); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("%v", err)
	}
}

func TestJobID(t *testing.T) {
	f := newFake(1, 5)
	copy(f.bytes[40:], "\x00\x00")
	f.symbols[symJobID] = symbol{base + 16, 64} // array
	if got := jobID(f); got != "host" {
		t.Errorf("array: %q", got)
	}
	f.symbols[symJobID] = symbol{base + 32, 8} // pointer to the first entry's host
	if got := jobID(f); got != "host" {
		t.Errorf("pointer: %q", got)
	}
	f.symbols[symJobID] = symbol{base + 48, 4} // int, the first entry's pid
	if got := jobID(f); got != "5" {
		t.Errorf("int: %q", got)
	}
	delete(f.symbols, symJobID)
	if got := jobID(f); got != "" {
		t.Errorf("none: %q", got)
	}
}

func TestReadMaps(t *testing.T) {
	maps := `55e0-55f0 r--p 00000000 fe:00 1 /usr/bin/app name
55f0-5600 r-xp 00001000 fe:00 1 /usr/bin/app name
7f00-7f10 r--p 00000000 fe:00 2 /lib/a.so
7f10-7f20 rw-p 00000000 00:00 0
7f18-7f20 r--p 00000000 fe:00 3 /lib/b.so
7f20-7f30 r--p 00000000 00:00 0 [vdso]
nonsense
`
	got := readMaps([]byte(maps), "/proc/1/root", "/usr/bin/app name")
	want := []image{
		{"/proc/1/root/usr/bin/app name", 0x55e0, fileID{"fe:00", "1", "/usr/bin/app name"}},
		{"/proc/1/root/lib/b.so", 0x7f18, fileID{"fe:00", "3", "/lib/b.so"}},
		{"/proc/1/root/lib/a.so", 0x7f00, fileID{"fe:00", "2", "/lib/a.so"}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// FuzzReadTable reads arbitrary memory.
func FuzzReadTable(f *testing.F) {
	f.Add(newFake(2, 1, 2).bytes)
	f.Add(newFake(1).bytes)
	f.Fuzz(func(t *testing.T, b []byte) {
		m := newFake(0)
		m.bytes = b
		m.symbols[symJobID] = symbol{base + 8, 0}
		table, err := ReadTable(m)
		if err == nil && table.Check() != nil {
			t.Fatalf("a bad table: %+v", table)
		}
		jobID(m)
	})
}

func FuzzReadMaps(f *testing.F) {
	f.Add([]byte("55e0-55f0 r--p 00000000 fe:00 1 /usr/bin/app\n"), "/usr/bin/app")
	f.Fuzz(func(t *testing.T, b []byte, exe string) { readMaps(b, "/", exe) })
}

// FuzzAddFrom reads damaged programs.
func FuzzAddFrom(f *testing.F) {
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(program)
	f.Add(program[:len(program)/2])
	f.Add(program[:64])
	f.Fuzz(func(_ *testing.T, b []byte) {
		p := &process{symbols: map[string]symbol{}}
		p.addFrom(bytes.NewReader(b), 0x5000)
	})
}
