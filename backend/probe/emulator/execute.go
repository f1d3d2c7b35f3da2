package emulator

import (
	"math/bits"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/amd64"
)

// execute executes an instruction; the program counter is behind it already.
func (m *Machine) execute(i *amd64.Inst) {
	if c, ok := i.Branch(); ok {
		to, direct := i.Target()
		if c == amd64.Never || !direct {
			m.fail("%v", i.Inst)
		} else if m.holds(c) {
			m.pc = to
		}
		return
	}
	if m.conditional(i) || m.flow(i) || m.move(i) || m.logic(i) || m.shift(i) || m.arithmetic(i) || m.multiply(i) || m.widen(i) || m.bit(i) || m.strings(i) || m.vectors(i) {
		return
	}
	switch i.Op {
	case x86asm.NOP, x86asm.PAUSE, x86asm.LFENCE, x86asm.MFENCE, x86asm.SFENCE, x86asm.PREFETCHT0, x86asm.PREFETCHNTA:
	default:
		m.fail("%v", i.Inst)
	}
}

// conditional executes stores and moves that depend on flags.
func (m *Machine) conditional(i *amd64.Inst) bool {
	size := m.size(i)
	if c, ok := i.Set(); ok {
		v := uint64(0)
		if m.holds(c) {
			v = 1
		}
		m.put(i, i.Args[0], v, 1)
		return true
	}
	c, ok := i.Move()
	if !ok {
		return false
	}
	v := m.get(i, i.Args[1], size)
	if !m.holds(c) {
		v = m.get(i, i.Args[0], size)
	}
	m.put(i, i.Args[0], v, size)
	return true
}

// flow executes calls, jumps and what moves the stack pointer.
func (m *Machine) flow(i *amd64.Inst) bool {
	switch i.Op {
	case x86asm.CALL, x86asm.JMP:
		if to, direct := i.Target(); direct {
			m.enter(to, i.Op == x86asm.CALL)
		} else if l := m.through(i); l != nil {
			m.enterLink(l, 0, i.Op == x86asm.CALL)
		} else {
			m.enter(m.get(i, i.Args[0], 8), i.Op == x86asm.CALL)
		}
	case x86asm.RET:
		m.pc = m.pop()
	case x86asm.PUSH:
		m.push(extend(m.get(i, i.Args[0], 8), 8))
	case x86asm.POP:
		m.put(i, i.Args[0], m.pop(), 8)
	case x86asm.LEAVE:
		m.reg[amd64.RSP] = m.reg[amd64.RBP]
		m.reg[amd64.RBP] = m.pop()
	default:
		return false
	}
	return true
}

func (m *Machine) move(i *amd64.Inst) bool {
	size := m.size(i)
	switch i.Op {
	case x86asm.MOV:
		m.put(i, i.Args[0], m.get(i, i.Args[1], size), size)
	case x86asm.MOVZX:
		m.put(i, i.Args[0], m.get(i, i.Args[1], i.Size(i.Args[1])), size)
	case x86asm.MOVSX, x86asm.MOVSXD:
		from := i.Size(i.Args[1])
		if from < 1 || from > 8 {
			return false
		}
		m.put(i, i.Args[0], extend(m.get(i, i.Args[1], from), from), size)
	case x86asm.LEA:
		x, ok := i.Args[1].(x86asm.Mem)
		if !ok {
			return false
		}
		x.Segment = 0
		m.put(i, i.Args[0], m.addr(i, x), size)
	case x86asm.XCHG:
		a, b := m.get(i, i.Args[0], size), m.get(i, i.Args[1], size)
		m.put(i, i.Args[0], b, size)
		m.put(i, i.Args[1], a, size)
	default:
		return false
	}
	return true
}

// result sets the flags that depend on a result alone.
func (m *Machine) result(v uint64, size int) {
	v &= mask(size)
	m.zero, m.sign = v == 0, v>>(8*size-1) == 1
	m.parity = bits.OnesCount8(uint8(v))%2 == 0
}

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
	case x86asm.INC, x86asm.DEC: // they leave the carry as it was
		m.carry = keep
	case x86asm.XADD:
		m.put(i, i.Args[1], a, size)
	}
	m.put(i, i.Args[0], r, size)
	return true
}

// plus returns a + b and a carry, and sets the flags.
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

// minus returns a - b and a borrow, and sets the flags.
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

// times returns the signed product of a and b, and sets the flags that say whether it fits.
func (m *Machine) times(a, b uint64, size int) uint64 {
	a, b = extend(a, size), extend(b, size)
	high, low := bits.Mul64(a, b)
	high -= a>>63*b + b>>63*a
	m.carry = size == 8 && high != -(low>>63) || size < 8 && low != extend(low, size)
	m.overflow = m.carry
	return low & mask(size)
}

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

// widen executes what extends RAX.
func (m *Machine) widen(i *amd64.Inst) bool {
	a := m.reg[amd64.RAX]
	switch i.Op {
	case x86asm.CDQ:
		m.reg[amd64.RDX] = extend(a, 4) >> 63 * mask(4)
	case x86asm.CQO:
		m.reg[amd64.RDX] = a >> 63 * mask(8)
	case x86asm.CDQE:
		m.reg[amd64.RAX] = extend(a, 4)
	case x86asm.CWDE:
		m.reg[amd64.RAX] = extend(a, 2) & mask(4)
	default:
		return false
	}
	return true
}

func (m *Machine) bit(i *amd64.Inst) bool {
	size := m.size(i)
	switch i.Op {
	case x86asm.BT:
		if _, inMemory := i.Args[0].(x86asm.Mem); inMemory {
			return false
		}
		m.carry = m.get(i, i.Args[0], size)>>(m.get(i, i.Args[1], size)%uint64(8*size))&1 == 1
	case x86asm.BSF, x86asm.BSR:
		v := m.get(i, i.Args[1], size)
		if m.zero = v == 0; m.zero {
			return true
		}
		n := bits.TrailingZeros64(v)
		if i.Op == x86asm.BSR {
			n = 63 - bits.LeadingZeros64(v)
		}
		m.put(i, i.Args[0], uint64(n), size)
	case x86asm.TZCNT:
		v := m.get(i, i.Args[1], size)
		n := min(bits.TrailingZeros64(v), 8*size)
		m.carry, m.zero = v == 0, n == 0
		m.put(i, i.Args[0], uint64(n), size)
	default:
		return false
	}
	return true
}

// stringSizes are the sizes of elements of string instructions, in bytes; those that store RAX are
// negative.
var stringSizes = map[x86asm.Op]int{
	x86asm.MOVSB: 1, x86asm.MOVSW: 2, x86asm.MOVSD: 4, x86asm.MOVSQ: 8,
	x86asm.STOSB: -1, x86asm.STOSW: -2, x86asm.STOSD: -4, x86asm.STOSQ: -8,
}

func (m *Machine) strings(i *amd64.Inst) bool {
	size, ok := stringSizes[i.Op]
	if !ok {
		return false
	}
	n := uint64(1)
	if i.Repeats() {
		n = m.reg[amd64.RCX]
		if n > uint64(m.work) {
			m.work = 0
			return true
		}
		m.work -= int(n)
		m.reg[amd64.RCX] = 0
	}
	for range n {
		v := m.reg[amd64.RAX]
		if size > 0 {
			v = m.load(m.reg[amd64.RSI], size)
			m.reg[amd64.RSI] += uint64(size)
		}
		width := max(size, -size)
		m.PutUint(m.reg[amd64.RDI], v, width)
		m.reg[amd64.RDI] += uint64(width)
	}
	return true
}
