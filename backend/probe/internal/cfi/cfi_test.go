package cfi

import (
	"encoding/binary"
	"testing"
)

// memory is bytes at an address.
type memory struct {
	at uint64
	b  []byte
}

func (m memory) Read(addr uint64, b []byte) bool {
	if addr < m.at || addr-m.at > uint64(len(m.b)) || uint64(len(b)) > uint64(len(m.b))-(addr-m.at) {
		return false
	}
	copy(b, m.b[addr-m.at:])
	return true
}

func TestEvaluate(t *testing.T) {
	var regs Registers
	regs.Set(7, 1000)
	mem := memory{at: 1016, b: binary.LittleEndian.AppendUint64(nil, 77)}
	for _, c := range []struct {
		name string
		expr []byte
		want uint64
		ok   bool
	}{
		{"literal", []byte{0x35}, 5, true},
		{"register and offset", []byte{0x77, 0x10}, 1016, true},
		{"negative offset", []byte{0x77, 0x78}, 992, true},
		{"load", []byte{0x77, 0x10, 0x06}, 77, true},
		{"plt: (rip & 15 >= 11) << 3", []byte{0x08, 0x1b, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24}, 8, true},
		{"minus", []byte{0x39, 0x34, 0x1c}, 5, true},
		{"const1s", []byte{0x09, 0xff}, ^uint64(0), true},
		{"swap", []byte{0x39, 0x34, 0x16, 0x1c}, ^uint64(4), true},
		{"rot", []byte{0x31, 0x32, 0x33, 0x17}, 2, true},
		{"branch over a literal", []byte{0x31, 0x31, 0x28, 1, 0, 0x35}, 1, true},
		{"endless", []byte{0x2f, 0xfd, 0xff}, 0, false},
		{"division by 0", []byte{0x31, 0x30, 0x1b}, 0, false},
		{"unknown register", []byte{0x71, 0}, 0, false},
		{"no memory", []byte{0x30, 0x06}, 0, false},
		{"empty stack", []byte{0x22}, 0, false},
		{"unknown operation", []byte{0xff}, 0, false},
	} {
		if v, ok := evaluate(c.expr, &regs, mem); ok != c.ok || ok && v != c.want {
			t.Errorf("%s: %#x, %v; want %#x, %v", c.name, v, ok, c.want, c.ok)
		}
	}
}

// entries is an .eh_frame with one CIE and one FDE for the addresses 0x1000 to 0x1010:
// push %rbp; mov %rsp,%rbp.
func entries() []byte {
	le := binary.LittleEndian
	cie := append(le.AppendUint32(nil, 0), 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1)
	fde := le.AppendUint32(nil, uint32(len(cie)+8))
	fde = le.AppendUint64(le.AppendUint64(fde, 0x1000), 0x10)
	fde = append(fde, 0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6)
	b := append(le.AppendUint32(nil, uint32(len(cie))), cie...)
	b = append(le.AppendUint32(b, uint32(len(fde))), fde...)
	return le.AppendUint32(b, 0)
}

func TestCaller(t *testing.T) {
	table := Walked(memory{at: 0x8000, b: entries()}, 0x8000)
	stack := memory{at: 0x7000, b: make([]byte, 64)}
	binary.LittleEndian.PutUint64(stack.b[16:], 0xb0) // rbp of the caller
	binary.LittleEndian.PutUint64(stack.b[24:], 0x2222)
	for _, c := range []struct{ pc, sp, bp uint64 }{
		{0x1000, 0x7018, 0xb0},   // nothing is pushed yet
		{0x1001, 0x7010, 0xb0},   // rbp is pushed
		{0x1004, 0x7000, 0x7010}, // rbp is the frame pointer
	} {
		row, err := table.Find(c.pc)
		if err != nil {
			t.Fatal(err)
		}
		var regs Registers
		regs.Set(7, c.sp)
		regs.Set(6, c.bp)
		regs.Set(16, c.pc)
		caller, cfa, err := row.Caller(&regs, stack, 7, 16)
		sp, _ := caller.Get(7)
		bp, _ := caller.Get(6)
		pc, _ := caller.Get(16)
		if err != nil || cfa != 0x7020 || sp != 0x7020 || bp != 0xb0 || pc != 0x2222 {
			t.Errorf("at %#x: cfa %#x sp %#x bp %#x pc %#x, %v", c.pc, cfa, sp, bp, pc, err)
		}
	}
	if _, err := table.Find(0x1010); err != ErrNone {
		t.Errorf("behind the function: %v", err)
	}
}

// debugEntries is entries as a .debug_frame.
func debugEntries() []byte {
	le := binary.LittleEndian
	cie := append(le.AppendUint32(nil, 1<<32-1), 4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1)
	fde := le.AppendUint64(le.AppendUint64(le.AppendUint32(nil, 0), 0x1000), 0x10)
	fde = append(fde, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6)
	gone := le.AppendUint64(le.AppendUint64(le.AppendUint32(nil, 0), 0), 0x10)
	var b []byte
	for _, e := range [][]byte{cie, gone, fde} {
		b = append(le.AppendUint32(b, uint32(len(e))), e...)
	}
	return b
}

func TestDebugFrame(t *testing.T) {
	table := Debug(debugEntries())
	row, err := table.Find(0x1004)
	if err != nil || row.First() != 0x1000 || row.base != 6 || row.cfa.offset != 16 || row.ra != 16 {
		t.Errorf("%+v, %v", row, err)
	}
	for _, pc := range []uint64{4, 0xfff, 0x1010} {
		if _, err := table.Find(pc); err != ErrNone {
			t.Errorf("%#x: %v", pc, err)
		}
	}
}

// FuzzTable reads hostile tables: each call ends, without a crash.
func FuzzTable(f *testing.F) {
	f.Add(entries(), uint64(0x1004))
	f.Add(debugEntries(), uint64(0x1004))
	f.Add(append([]byte{1, 0x1b, 0x03, 0x3b, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0}, entries()...), uint64(0x1004))
	f.Fuzz(func(t *testing.T, b []byte, pc uint64) {
		mem := memory{at: 0x8000, b: b}
		tables := []*Table{Walked(mem, 0x8000), Debug(b)}
		if indexed, err := NewTable(mem, 0x8000); err == nil {
			tables = append(tables, indexed)
		}
		var regs Registers
		for n := range uint64(MaxRegisters) {
			regs.Set(n, 0x8000+n)
		}
		for _, table := range tables {
			if row, err := table.Find(pc); err == nil {
				_, _, _ = row.Caller(&regs, mem, 7, 16)
			}
		}
	})
}
