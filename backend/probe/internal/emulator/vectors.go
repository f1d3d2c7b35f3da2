// Instructions of 128-bit vectors.

package emulator

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// moved is how many bytes a move of a vector register moves.
var moved = map[x86asm.Op]int{
	x86asm.MOVAPS: 16, x86asm.MOVUPS: 16, x86asm.MOVDQA: 16, x86asm.MOVDQU: 16, x86asm.MOVAPD: 16, x86asm.MOVUPD: 16,
	x86asm.MOVQ: 8, x86asm.MOVSD_XMM: 8, x86asm.MOVD: 4, x86asm.MOVSS: 4,
}

// halves are moves of 8 bytes to or from a half of a register.
var halves = map[x86asm.Op]int{x86asm.MOVLPS: 0, x86asm.MOVLPD: 0, x86asm.MOVHPS: 8, x86asm.MOVHPD: 8}

// vectors executes the instructions with vector registers that compilers generate for copies of structures.
func (m *Machine) vectors(i *amd64.Inst) bool {
	to, from := amd64.Vector(i.Args[0]), amd64.Vector(i.Args[1])
	if size, ok := moved[i.Op]; ok {
		return m.moveVector(i, to, from, size)
	}
	if at, ok := halves[i.Op]; ok {
		return m.moveHalf(i, to, from, at)
	}
	if to < 0 {
		return false
	}
	b, ok := m.vectorOperand(i, i.Args[1], 16)
	if !ok {
		return false
	}
	return m.combine(i, &m.vector[to], b)
}

// vectorOperand returns size bytes of a register or of memory.
func (m *Machine) vectorOperand(i *amd64.Inst, arg x86asm.Arg, size int) (b [16]byte, ok bool) {
	switch x := arg.(type) {
	case x86asm.Mem:
		return b, m.read(m.addr(i, x), b[:size])
	case x86asm.Reg:
		if n := amd64.Vector(x); n >= 0 {
			copy(b[:size], m.vector[n][:])
			return b, true
		}
		if n, _, _ := amd64.General(x); n >= 0 {
			binary.LittleEndian.PutUint64(b[:], m.part(x))
			return b, true
		}
	}
	return b, false
}

// moveVector executes a move of size bytes; to and from are numbers of vector registers, or -1.
func (m *Machine) moveVector(i *amd64.Inst, to, from, size int) bool {
	b, ok := m.vectorOperand(i, i.Args[1], size)
	if !ok {
		return m.err != nil
	}
	x, inMemory := i.Args[0].(x86asm.Mem)
	switch {
	case to >= 0 && from >= 0 && (i.Op == x86asm.MOVSD_XMM || i.Op == x86asm.MOVSS): // the other bytes are unchanged
		copy(m.vector[to][:size], b[:])
	case to >= 0:
		m.vector[to] = b
	case inMemory:
		m.write(m.addr(i, x), b[:size])
	default:
		m.put(i, i.Args[0], binary.LittleEndian.Uint64(b[:])&mask(size), size)
	}
	return true
}

// moveHalf executes a move of 8 bytes to or from the half of a vector register at byte at.
func (m *Machine) moveHalf(i *amd64.Inst, to, from, at int) bool {
	x, inMemory := i.Args[0].(x86asm.Mem)
	switch {
	case inMemory && from >= 0:
		m.write(m.addr(i, x), m.vector[from][at:at+8])
	case to >= 0 && from < 0:
		b, ok := m.vectorOperand(i, i.Args[1], 8)
		if !ok {
			return m.err != nil
		}
		copy(m.vector[to][at:at+8], b[:])
	default: // MOVHLPS, MOVLHPS
		return false
	}
	return true
}

// combine executes an instruction that computes a vector from to and b, and stores it in to.
func (m *Machine) combine(i *amd64.Inst, to *[16]byte, b [16]byte) bool {
	le := binary.LittleEndian
	switch i.Op {
	case x86asm.PXOR, x86asm.XORPS, x86asm.XORPD:
		for k := range b {
			to[k] ^= b[k]
		}
	case x86asm.PUNPCKLQDQ:
		copy(to[8:], b[:8])
	case x86asm.PUNPCKLDQ:
		a := *to
		copy(to[4:8], b[:4])
		copy(to[8:12], a[4:8])
		copy(to[12:], b[4:8])
	case x86asm.PADDD:
		for k := 0; k < 16; k += 4 {
			le.PutUint32(to[k:], le.Uint32(to[k:])+le.Uint32(b[k:]))
		}
	case x86asm.PADDQ:
		for k := 0; k < 16; k += 8 {
			le.PutUint64(to[k:], le.Uint64(to[k:])+le.Uint64(b[k:]))
		}
	case x86asm.PSHUFD:
		order, ok := i.Args[2].(x86asm.Imm)
		if !ok {
			return false
		}
		for k := range 4 {
			n := order >> (2 * k) & 3
			copy(to[4*k:4*k+4], b[4*n:4*n+4])
		}
	default:
		return false
	}
	return true
}
