// Integer arithmetic, shifts and flags.

package emulator

import (
	"math/bits"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// result sets the flags that depend only on the result of an instruction: zero, sign and parity.
func (m *Machine) result(v uint64, size int) {
	v &= mask(size)
	m.zero, m.sign = v == 0, v>>(8*size-1) == 1
	m.parity = bits.OnesCount8(uint8(v))%2 == 0
}

// logic executes AND, OR, XOR, NOT and TEST. Like the other functions for kinds of instructions, it returns
// false if i is of another kind.
func (m *Machine) logic(i *amd64.Inst) bool {
	size := m.size(i)
	var v uint64
	switch i.Op {
	case x86asm.AND, x86asm.TEST:
		v = m.get(i, i.Args[0], size) & m.get(i, i.Args[1], size)
	case x86asm.OR:
		v = m.get(i, i.Args[0], size) | m.get(i, i.Args[1], size)
	case x86asm.XOR:
		v = m.get(i, i.Args[0], size) ^ m.get(i, i.Args[1], size)
	case x86asm.NOT:
		m.put(i, i.Args[0], ^m.get(i, i.Args[0], size), size)
		return true
	default:
		return false
	}
	m.carry, m.overflow = false, false
	m.result(v, size)
	if i.Op != x86asm.TEST {
		m.put(i, i.Args[0], v, size)
	}
	return true
}

// shift executes shifts and rotations. It does not set the flags of rotations, nor overflow.
func (m *Machine) shift(i *amd64.Inst) bool {
	switch i.Op {
	case x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR:
	default:
		return false
	}
	size := m.size(i)
	width := uint(8 * size)
	by := uint(1)
	if i.Args[1] != nil {
		by = uint(m.get(i, i.Args[1], 1))
	}
	if size == 8 {
		by &= 63
	} else {
		by &= 31
	}
	if by == 0 {
		return true
	}
	v := m.get(i, i.Args[0], size) & mask(size)
	var r uint64
	switch i.Op {
	case x86asm.SHL:
		r = v << by
		m.carry = by <= width && v>>(width-by)&1 == 1
	case x86asm.SHR:
		r = v >> by
		m.carry = v>>(by-1)&1 == 1
	case x86asm.SAR:
		wide := int64(extend(v, size))
		r = uint64(wide >> by)
		m.carry = wide>>(by-1)&1 == 1
	case x86asm.ROL:
		r = v<<(by%width) | v>>((width-by%width)%64)
	case x86asm.ROR:
		r = v>>(by%width) | v<<((width-by%width)%64)
	}
	if i.Op != x86asm.ROL && i.Op != x86asm.ROR {
		m.result(r, size)
	}
	m.put(i, i.Args[0], r&mask(size), size)
	return true
}

// arithmetic executes additions and subtractions.
func (m *Machine) arithmetic(i *amd64.Inst) bool {
	size := m.size(i)
	a, b, carry, op := uint64(0), uint64(1), m.carry, i.Op
	switch op {
	case x86asm.ADD, x86asm.SUB, x86asm.CMP, x86asm.XADD:
		a, b, carry = m.get(i, i.Args[0], size), m.get(i, i.Args[1], size), false
	case x86asm.ADC, x86asm.SBB:
		a, b = m.get(i, i.Args[0], size), m.get(i, i.Args[1], size)
	case x86asm.INC, x86asm.DEC:
		a, carry = m.get(i, i.Args[0], size), false
	case x86asm.NEG:
		b, carry = m.get(i, i.Args[0], size), false
	case x86asm.CMPXCHG:
		m.compareExchange(i, size)
		return true
	default:
		return false
	}
	keep := m.carry
	var r uint64
	switch op {
	case x86asm.ADD, x86asm.ADC, x86asm.XADD, x86asm.INC:
		r = m.plus(a, b, carry, size)
	default:
		r = m.minus(a, b, carry, size)
	}
	switch op {
	case x86asm.CMP:
		return true
	case x86asm.INC, x86asm.DEC: // the carry is unchanged
		m.carry = keep
	case x86asm.XADD:
		m.put(i, i.Args[1], a, size)
	}
	m.put(i, i.Args[0], r, size)
	return true
}

// plus returns a + b + carry, and sets the flags.
func (m *Machine) plus(a, b uint64, carry bool, size int) uint64 {
	a, b = a&mask(size), b&mask(size)
	r := a + b
	if carry {
		r++
	}
	r &= mask(size)
	m.carry = r < a || carry && r == a
	m.overflow = ^(a^b)&(a^r)>>(8*size-1)&1 == 1
	m.result(r, size)
	return r
}

// minus returns a - b - borrow, and sets the flags.
func (m *Machine) minus(a, b uint64, borrow bool, size int) uint64 {
	a, b = a&mask(size), b&mask(size)
	r := a - b
	if borrow {
		r--
	}
	r &= mask(size)
	m.carry = a < b || borrow && a == b
	m.overflow = (a^b)&(a^r)>>(8*size-1)&1 == 1
	m.result(r, size)
	return r
}

// compareExchange executes CMPXCHG.
func (m *Machine) compareExchange(i *amd64.Inst, size int) {
	v := m.get(i, i.Args[0], size) & mask(size)
	with := m.reg[amd64.RAX] & mask(size)
	if m.minus(with, v, false, size) == 0 {
		m.put(i, i.Args[0], m.get(i, i.Args[1], size), size)
		return
	}
	if size == 4 {
		m.reg[amd64.RAX] = v
	} else {
		m.reg[amd64.RAX] = m.reg[amd64.RAX]&^mask(size) | v
	}
}

// multiply executes multiplications and divisions.
func (m *Machine) multiply(i *amd64.Inst) bool {
	size := m.size(i)
	switch i.Op {
	case x86asm.IMUL:
		if i.Args[1] == nil {
			return false
		}
		a, b := m.get(i, i.Args[0], size), m.get(i, i.Args[1], size)
		if i.Args[2] != nil {
			a = m.get(i, i.Args[2], size)
		}
		m.put(i, i.Args[0], m.times(a, b, size), size)
	case x86asm.MUL:
		v := m.get(i, i.Args[0], size)
		switch size {
		case 8:
			m.reg[amd64.RDX], m.reg[amd64.RAX] = bits.Mul64(m.reg[amd64.RAX], v)
		case 4:
			r := m.reg[amd64.RAX] & mask(4) * v
			m.reg[amd64.RAX], m.reg[amd64.RDX] = r&mask(4), r>>32
		default:
			return false
		}
		m.carry = m.reg[amd64.RDX] != 0
		m.overflow = m.carry
	case x86asm.DIV:
		return m.divide(i, size)
	case x86asm.IDIV:
		return m.divideSigned(i, size)
	default:
		return false
	}
	return true
}

// times returns the signed product of a and b, and sets carry and overflow if it does not fit into size bytes.
func (m *Machine) times(a, b uint64, size int) uint64 {
	a, b = extend(a, size), extend(b, size)
	high, low := bits.Mul64(a, b)
	high -= a>>63*b + b>>63*a
	m.carry = size == 8 && high != -(low>>63) || size < 8 && low != extend(low, size)
	m.overflow = m.carry
	return low & mask(size)
}

// divide executes DIV of 4 or 8 bytes.
func (m *Machine) divide(i *amd64.Inst, size int) bool {
	by := m.get(i, i.Args[0], size)
	high, low := m.reg[amd64.RDX], m.reg[amd64.RAX]
	switch {
	case size == 4:
		high, low = 0, high<<32|low&mask(4)
		if by == 0 || low/by > mask(4) {
			m.fail("division")
			return true
		}
	case size < 4:
		return false
	}
	if by == 0 || high >= by {
		m.fail("division")
		return true
	}
	m.reg[amd64.RAX], m.reg[amd64.RDX] = bits.Div64(high, low, by)
	return true
}

// divideSigned executes IDIV of 4 or 8 bytes, the latter only if the dividend fits into 64 bits.
func (m *Machine) divideSigned(i *amd64.Inst, size int) bool {
	by := int64(extend(m.get(i, i.Args[0], size), size))
	v := int64(m.reg[amd64.RAX])
	switch {
	case size == 4:
		v = int64(m.reg[amd64.RDX]<<32 | m.reg[amd64.RAX]&mask(4))
	case size < 4 || int64(m.reg[amd64.RDX]) != v>>63: // more than 64 bits
		return false
	}
	if by == 0 || by == -1 && v == -1<<63 || size == 4 && v/by != int64(int32(v/by)) {
		m.fail("division")
		return true
	}
	m.reg[amd64.RAX], m.reg[amd64.RDX] = uint64(v/by)&mask(size), uint64(v%by)&mask(size)
	return true
}
