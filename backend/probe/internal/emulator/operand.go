// Operands and conditions.

package emulator

import (
	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// mask returns a number whose lowest size bytes are ones.
func mask(size int) uint64 {
	if size >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*size) - 1
}

// extend returns the lower size bytes of v, extended by their sign.
func extend(v uint64, size int) uint64 {
	shift := 64 - 8*size
	return uint64(int64(v<<shift) >> shift)
}

// addr returns the address of an operand in memory.
func (m *Machine) addr(i *amd64.Inst, x x86asm.Mem) uint64 {
	a := uint64(x.Disp)
	if x.Base == x86asm.RIP {
		a += i.Next()
	} else {
		a += m.part(x.Base)
	}
	a += m.part(x.Index) * uint64(x.Scale)
	if x.Segment == x86asm.FS {
		a += m.Thread
	}
	return a
}

// part returns the value of a general register or of a part of one; 0 if r is not a general register.
func (m *Machine) part(r x86asm.Reg) uint64 {
	n, size, second := amd64.General(r)
	switch {
	case n < 0:
		return 0
	case second:
		return m.reg[n] >> 8 & 0xff
	}
	return m.reg[n] & mask(size)
}

// get returns the value of an operand. size is the size of operands in memory and of constants, in
// bytes.
func (m *Machine) get(i *amd64.Inst, arg x86asm.Arg, size int) uint64 {
	switch x := arg.(type) {
	case x86asm.Reg:
		if n, _, _ := amd64.General(x); n >= 0 {
			return m.part(x)
		}
	case x86asm.Imm:
		return uint64(x) & mask(size)
	case x86asm.Mem:
		return m.load(m.addr(i, x), size)
	}
	m.fail("operand of %v", i.Inst)
	return 0
}

// put writes an operand. size is the size of operands in memory, in bytes.
func (m *Machine) put(i *amd64.Inst, arg x86asm.Arg, v uint64, size int) {
	switch x := arg.(type) {
	case x86asm.Mem:
		m.PutUint(m.addr(i, x), v, size)
		return
	case x86asm.Reg:
		n, own, second := amd64.General(x)
		switch {
		case n < 0:
		case second:
			m.reg[n] = m.reg[n]&^0xff00 | v&0xff<<8
			return
		case own >= 4: // a write of 4 bytes clears the upper half
			m.reg[n] = v & mask(own)
			return
		default:
			m.reg[n] = m.reg[n]&^mask(own) | v&mask(own)
			return
		}
	}
	m.fail("operand of %v", i.Inst)
}

// size returns the size of the first operand in bytes; 8 if it has none.
func (m *Machine) size(i *amd64.Inst) int {
	if i.Args[0] == nil {
		return 8
	}
	if n := i.Size(i.Args[0]); n > 0 {
		return min(n, 8)
	}
	return 8
}

// holds reports whether a condition is met.
func (m *Machine) holds(c amd64.Condition) bool {
	var met bool
	switch c &^ 1 {
	case amd64.Overflow:
		met = m.overflow
	case amd64.Below:
		met = m.carry
	case amd64.Equal:
		met = m.zero
	case amd64.BelowOrEqual:
		met = m.carry || m.zero
	case amd64.Sign:
		met = m.sign
	case amd64.Parity:
		met = m.parity
	case amd64.Less:
		met = m.sign != m.overflow
	case amd64.LessOrEqual:
		met = m.zero || m.sign != m.overflow
	}
	return met == (c&1 == 0)
}
