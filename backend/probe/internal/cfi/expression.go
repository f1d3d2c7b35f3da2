// Expressions (DWARF 5, section 2.5).

package cfi

import "encoding/binary"

const (
	maxSteps = 1000 // operations of an expression
	maxStack = 64
)

// machine is a stack machine that evaluates an expression.
type machine struct {
	reader
	stack []uint64
	regs  *Registers
	mem   Memory
	place Object
}

// Object is what an expression in debug information is about.
type Object struct {
	// Addr is the address of the object, such as the descriptor of an array (DW_OP_push_object_address).
	Addr uint64
	// Bias is added to addresses of the file.
	Bias uint64
	// Indexed returns an address of the file by its index (DW_OP_addrx); nil: none is known.
	Indexed func(index uint64) (addr uint64, ok bool)
}

// Evaluate returns the value of an expression that needs no registers: the place of a variable, or a bound or the
// elements of an array. The stack begins with initial values. ok is false if it fails, or needs registers, a frame or
// a thread.
func Evaluate(expr []byte, mem Memory, o Object, initial ...uint64) (v uint64, ok bool) {
	return run(&machine{reader: reader{b: expr}, stack: initial, regs: &Registers{}, mem: mem, place: o})
}

// evaluate returns the value of an expression; ok is false if it fails. The stack begins with
// initial values.
func evaluate(expr []byte, regs *Registers, mem Memory, initial ...uint64) (v uint64, ok bool) {
	return run(&machine{reader: reader{b: expr}, stack: append(make([]uint64, 0, 8), initial...), regs: regs, mem: mem})
}

func run(m *machine) (v uint64, ok bool) {
	for steps := 0; m.more(); steps++ {
		if steps == maxSteps || len(m.stack) > maxStack {
			return 0, false
		}
		m.step()
	}
	v = m.pop()
	return v, !m.bad
}

func (m *machine) push(v uint64) { m.stack = append(m.stack, v) }

func (m *machine) pop() uint64 {
	n := len(m.stack) - 1
	if n < 0 {
		m.bad = true
		return 0
	}
	v := m.stack[n]
	m.stack = m.stack[:n]
	return v
}

// pick copies the value at a depth below the top.
func (m *machine) pick(depth int) {
	if depth >= len(m.stack) {
		m.bad = true
		return
	}
	m.push(m.stack[len(m.stack)-1-depth])
}

func (m *machine) step() {
	op := m.u8()
	switch {
	case op >= 0x30 && op <= 0x4f: // lit0 to lit31
		m.push(uint64(op - 0x30))
	case op >= 0x70 && op <= 0x8f: // breg0 to breg31
		m.register(uint64(op - 0x70))
	case op >= 0x08 && op <= 0x11 || op == 0x03:
		m.constant(op)
	case op >= 0x1a && op <= 0x2e && binaryOps[op] != nil:
		b, a := m.pop(), m.pop()
		v, ok := binaryOps[op](a, b)
		m.push(v)
		m.bad = m.bad || !ok
	default:
		m.other(op)
	}
}

// register pushes a register and an offset.
func (m *machine) register(n uint64) {
	v, ok := m.regs.Get(n)
	m.bad = m.bad || !ok
	m.push(v + uint64(m.sleb()))
}

// constant pushes the operand of an operation: addr, or const1u to consts.
func (m *machine) constant(op byte) {
	switch op {
	case 0x03: // addr
		m.push(m.unsigned(8) + m.place.Bias)
	case 0x10: // constu
		m.push(m.uleb())
	case 0x11: // consts
		m.push(uint64(m.sleb()))
	default: // const1u, const1s, const2u and so on to const8s
		size := uint64(1) << ((op - 0x08) / 2)
		if op&1 == 0 {
			m.push(m.unsigned(size))
		} else {
			m.push(m.signed(size))
		}
	}
}

func (m *machine) other(op byte) {
	switch op {
	case 0x06: // deref
		m.load(8)
	case 0x94: // deref_size
		m.load(int(m.u8()))
	case 0x12: // dup
		m.pick(0)
	case 0x13: // drop
		m.pop()
	case 0x14: // over
		m.pick(1)
	case 0x15: // pick
		m.pick(int(m.u8()))
	case 0x16: // swap
		b, a := m.pop(), m.pop()
		m.stack = append(m.stack, b, a)
	case 0x17: // rot
		c, b, a := m.pop(), m.pop(), m.pop()
		m.stack = append(m.stack, c, a, b)
	case 0x28, 0x2f: // bra, skip
		m.branch(op == 0x28)
	case 0x92: // bregx
		m.register(m.uleb())
	case 0x97: // push_object_address
		m.bad = m.bad || m.place.Addr == 0
		m.push(m.place.Addr)
	case 0xa1: // addrx
		m.indexed(m.uleb())
	case 0x96: // nop
	default:
		m.unary(op)
	}
}

// unary changes the topmost value.
func (m *machine) unary(op byte) {
	v := m.pop()
	switch op {
	case 0x19: // abs
		v = uint64(max(int64(v), -int64(v)))
	case 0x1f: // neg
		v = -v
	case 0x20: // not
		v = ^v
	case 0x23: // plus_uconst
		v += m.uleb()
	default:
		m.bad = true
	}
	m.push(v)
}

// indexed pushes an address of the file by its index.
func (m *machine) indexed(n uint64) {
	if m.place.Indexed == nil {
		m.bad = true
		return
	}
	addr, ok := m.place.Indexed(n)
	m.bad = m.bad || !ok
	m.push(addr + m.place.Bias)
}

func (m *machine) load(size int) {
	var b [8]byte
	if size > 8 || !m.mem.Read(m.pop(), b[:size]) {
		m.bad = true
		return
	}
	m.push(binary.LittleEndian.Uint64(b[:]))
}

func (m *machine) branch(conditional bool) {
	to := int(int16(m.unsigned(2)))
	if conditional && m.pop() == 0 {
		return
	}
	if to += m.pos; to < 0 || to > len(m.b) {
		m.bad = true
		return
	}
	m.pos = to
}

// binaryOps are the operations of two values, by their codes. They return false if they fail.
var binaryOps = [0x2f]func(a, b uint64) (uint64, bool){
	0x1a: func(a, b uint64) (uint64, bool) { return a & b, true },
	0x1b: func(a, b uint64) (uint64, bool) {
		if b == 0 {
			return 0, false
		}
		return uint64(int64(a) / int64(b)), true
	},
	0x1c: func(a, b uint64) (uint64, bool) { return a - b, true },
	0x1d: func(a, b uint64) (uint64, bool) {
		if b == 0 {
			return 0, false
		}
		return a % b, true
	},
	0x1e: func(a, b uint64) (uint64, bool) { return a * b, true },
	0x21: func(a, b uint64) (uint64, bool) { return a | b, true },
	0x22: func(a, b uint64) (uint64, bool) { return a + b, true },
	0x24: func(a, b uint64) (uint64, bool) { return a << min(b, 64), true },
	0x25: func(a, b uint64) (uint64, bool) { return a >> min(b, 64), true },
	0x26: func(a, b uint64) (uint64, bool) { return uint64(int64(a) >> min(b, 63)), true },
	0x27: func(a, b uint64) (uint64, bool) { return a ^ b, true },
	0x29: func(a, b uint64) (uint64, bool) { return truth(a == b), true },
	0x2a: func(a, b uint64) (uint64, bool) { return truth(int64(a) >= int64(b)), true },
	0x2b: func(a, b uint64) (uint64, bool) { return truth(int64(a) > int64(b)), true },
	0x2c: func(a, b uint64) (uint64, bool) { return truth(int64(a) <= int64(b)), true },
	0x2d: func(a, b uint64) (uint64, bool) { return truth(int64(a) < int64(b)), true },
	0x2e: func(a, b uint64) (uint64, bool) { return truth(a != b), true },
}

func truth(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
