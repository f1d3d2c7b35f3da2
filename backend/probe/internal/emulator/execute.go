// Dispatch of instructions: jumps, moves, bits and strings.

package emulator

import (
	"math/bits"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// execute executes an instruction; the program counter is already at the next one.
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

// conditional executes SETcc and CMOVcc.
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

// flow executes calls, unconditional jumps, returns, PUSH, POP and LEAVE.
func (m *Machine) flow(i *amd64.Inst) bool {
	switch i.Op {
	case x86asm.CALL, x86asm.JMP:
		if to, direct := i.Target(); direct {
			m.enter(to, i.Op == x86asm.CALL)
		} else if l := m.linkOf(i.Slot()); l != nil {
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

// move executes moves between general registers and memory, LEA and XCHG.
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

// widen executes the instructions that extend the sign of RAX.
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

// bit executes tests of bits, and searches for the lowest or highest one.
func (m *Machine) bit(i *amd64.Inst) bool {
	size := m.size(i)
	switch i.Op {
	case x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC:
		if _, inMemory := i.Args[0].(x86asm.Mem); inMemory {
			return false
		}
		v, one := m.get(i, i.Args[0], size), uint64(1)<<(m.get(i, i.Args[1], size)%uint64(8*size))
		m.carry = v&one != 0
		switch i.Op {
		case x86asm.BTS:
			m.put(i, i.Args[0], v|one, size)
		case x86asm.BTR:
			m.put(i, i.Args[0], v&^one, size)
		case x86asm.BTC:
			m.put(i, i.Args[0], v^one, size)
		}
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

// stringSizes are the sizes of elements of string instructions, in bytes; the sizes of those that store RAX
// are negative.
var stringSizes = map[x86asm.Op]int{
	x86asm.MOVSB: 1, x86asm.MOVSW: 2, x86asm.MOVSD: 4, x86asm.MOVSQ: 8,
	x86asm.STOSB: -1, x86asm.STOSW: -2, x86asm.STOSD: -4, x86asm.STOSQ: -8,
}

// strings executes string instructions, with the direction flag clear.
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
