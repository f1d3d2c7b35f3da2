// Execution of single instructions with symbolic values.

package dataflow

import (
	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// effective returns the address of an operand in memory; nil: it is not known.
func (a *analysis) effective(s *State, i *amd64.Inst, m x86asm.Mem) *Value {
	if m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		return nil
	}
	if m.Base == x86asm.RIP {
		return a.address(i.Next() + uint64(m.Disp))
	}
	v := a.constant(m.Disp)
	if m.Base != 0 {
		n, size, _ := amd64.General(m.Base)
		if n < 0 || size != 8 {
			return nil
		}
		v = a.plus(s.Registers[n], m.Disp)
	}
	if m.Index == 0 {
		return v
	}
	n, size, _ := amd64.General(m.Index)
	if n < 0 || size != 8 {
		return nil
	}
	return a.sum(v, s.Registers[n], int64(m.Scale))
}

// operand returns the value of an operand of 4 or 8 bytes; nil: not known.
func (a *analysis) operand(s *State, i *amd64.Inst, arg x86asm.Arg, size int64) *Value {
	switch x := arg.(type) {
	case x86asm.Reg:
		n, own, second := amd64.General(x)
		switch {
		case n < 0 || second:
		case own == 8:
			return s.Registers[n]
		case own == 4:
			return a.low(s.Registers[n])
		}
	case x86asm.Imm:
		if size == 4 {
			return a.constant(int64(uint32(x)))
		}
		return a.constant(int64(x))
	case x86asm.Mem:
		return a.load(s, i.Addr, a.effective(s, i, x), size)
	}
	return nil
}

// set writes a register; v is nil if the value is not known. It notes an address of the stack that is written
// as taken, unless the register is the stack or frame pointer.
func (a *analysis) set(s *State, i *amd64.Inst, r x86asm.Reg, v *Value) {
	n, size, _ := amd64.General(r)
	switch {
	case n < 0:
		return
	case v == nil, size < 4:
		v = a.fresh(s, i.Addr, n)
	}
	if size == 4 {
		v = a.low(v)
	}
	if slot, ok := SlotOf(v); ok && n != amd64.RSP && !(n == amd64.RBP && i.Op == x86asm.MOV) {
		a.escape(slot)
	}
	s.Registers[n] = v
}

// align makes the stack pointer a new unknown value, which is the base of slots from then on.
func (a *analysis) align(s *State, at uint64) {
	v := a.unknown(origin{how: aligned, at: at}, nil, 0)
	a.rename(s, v)
	s.Registers[amd64.RSP] = v
}

// lose makes registers unknown.
func (a *analysis) lose(s *State, at uint64, regs ...int) {
	for _, n := range regs {
		s.Registers[n] = a.fresh(s, at, n)
	}
}

// step executes an instruction.
func (a *analysis) step(s *State, i *amd64.Inst) {
	if a.stack(s, i) || a.move(s, i) || a.arithmetic(s, i) || a.implicit(s, i) || a.vector(s, i) {
		return
	}
	if _, branch := i.Branch(); branch || onlyReads[i.Op] {
		return
	}
	a.writes(s, i, i.Args[0])
}

// onlyReads are instructions that write flags at most.
var onlyReads = map[x86asm.Op]bool{
	x86asm.NOP: true, x86asm.CMP: true, x86asm.TEST: true, x86asm.BT: true, x86asm.PAUSE: true, x86asm.JMP: true, x86asm.RET: true,
	x86asm.LFENCE: true, x86asm.MFENCE: true, x86asm.SFENCE: true, x86asm.PTEST: true,
	x86asm.PREFETCHT0: true, x86asm.PREFETCHT1: true, x86asm.PREFETCHT2: true, x86asm.PREFETCHNTA: true, x86asm.PREFETCHW: true,
	x86asm.UCOMISD: true, x86asm.UCOMISS: true, x86asm.COMISD: true, x86asm.COMISS: true,
	x86asm.VUCOMISD: true, x86asm.VUCOMISS: true, x86asm.VCOMISD: true, x86asm.VCOMISS: true, x86asm.VPTEST: true,
}

// writes makes an operand unknown to which an instruction writes that is not understood.
func (a *analysis) writes(s *State, i *amd64.Inst, arg x86asm.Arg) {
	switch x := arg.(type) {
	case x86asm.Reg:
		if n := vectorNumber(x); n >= 0 {
			s.vectors[n] = [2]*Value{}
		} else if n, _, _ := amd64.General(x); n == amd64.RSP {
			a.align(s, i.Addr)
		} else {
			a.set(s, i, x, nil)
		}
	case x86asm.Mem:
		a.store(s, a.effective(s, i, x), nil, int64(max(i.MemBytes, 1)))
	}
}

// stack executes PUSH, POP, LEAVE and CALL. Like the other functions for kinds of instructions, it returns
// false if i is of another kind.
func (a *analysis) stack(s *State, i *amd64.Inst) bool {
	sp := &s.Registers[amd64.RSP]
	switch i.Op {
	case x86asm.PUSH:
		v := a.operand(s, i, i.Args[0], 8)
		*sp = a.plus(*sp, -8)
		a.store(s, *sp, v, 8)
	case x86asm.POP:
		v := a.stored(s, *sp)
		*sp = a.plus(*sp, 8)
		if r, ok := i.Args[0].(x86asm.Reg); ok {
			a.set(s, i, r, v)
		} else {
			a.writes(s, i, i.Args[0])
		}
	case x86asm.LEAVE:
		v := a.stored(s, s.Registers[amd64.RBP])
		*sp = a.plus(s.Registers[amd64.RBP], 8)
		if v == nil {
			v = a.fresh(s, i.Addr, amd64.RBP)
		}
		s.Registers[amd64.RBP] = v
	case x86asm.CALL:
		a.call(s, i)
	default:
		return false
	}
	return true
}

// stored returns the value of 8 bytes at an address of the stack; nil: not known.
func (a *analysis) stored(s *State, addr *Value) *Value {
	slot, ok := SlotOf(addr)
	if v, known := s.Slots[slot]; ok && known && v.Size == 8 {
		return v.Value
	}
	return nil
}

// call makes unknown what a callee may change: registers that it need not preserve, memory below the stack
// pointer, and slots whose addresses were taken.
func (a *analysis) call(s *State, i *amd64.Inst) {
	for n := range amd64.Registers {
		if n != amd64.RSP && !amd64.Saved(n) {
			a.lose(s, i.Addr, n)
		}
	}
	s.vectors = [16][2]*Value{}
	a.clobber(s, i.Addr)
	if sp, ok := SlotOf(s.Registers[amd64.RSP]); ok {
		for slot := range s.Slots {
			if slot.Base == sp.Base && slot.Offset < sp.Offset {
				delete(s.Slots, slot)
			}
		}
	}
}

// move executes moves between general registers and memory.
func (a *analysis) move(s *State, i *amd64.Inst) bool {
	to, isReg := i.Args[0].(x86asm.Reg)
	mem, isMem := i.Args[0].(x86asm.Mem)
	switch i.Op {
	case x86asm.MOV:
		size := int64(i.Size(i.Args[0]))
		var v *Value
		if size >= 4 {
			v = a.operand(s, i, i.Args[1], size)
		}
		if isReg {
			a.set(s, i, to, v)
		} else if isMem {
			a.store(s, a.effective(s, i, mem), v, size)
		}
	case x86asm.MOVSXD:
		v := a.operand(s, i, i.Args[1], 4)
		if v != nil && i.Size(i.Args[0]) == 8 {
			v = a.extended(v)
		}
		a.set(s, i, to, v)
	case x86asm.CDQE:
		s.Registers[amd64.RAX] = a.extended(s.Registers[amd64.RAX])
	case x86asm.LEA:
		m, _ := i.Args[1].(x86asm.Mem)
		m.Segment = 0
		a.set(s, i, to, a.effective(s, i, m))
	case x86asm.XCHG:
		a.exchange(s, i)
	default:
		if _, conditional := i.Move(); !conditional {
			return false
		}
		a.set(s, i, to, nil)
	}
	return true
}

// exchange executes XCHG.
func (a *analysis) exchange(s *State, i *amd64.Inst) {
	x, size, okX := amd64.GeneralArg(i.Args[0])
	y, _, okY := amd64.GeneralArg(i.Args[1])
	if okX && okY && size == 8 {
		s.Registers[x], s.Registers[y] = s.Registers[y], s.Registers[x]
		return
	}
	a.writes(s, i, i.Args[0])
	a.writes(s, i, i.Args[1])
}

// arithmetic executes instructions that compute addresses and constants.
func (a *analysis) arithmetic(s *State, i *amd64.Inst) bool {
	n, size, ok := amd64.GeneralArg(i.Args[0])
	if !ok || size < 4 {
		return false
	}
	to := i.Args[0].(x86asm.Reg)
	switch i.Op {
	case x86asm.ADD, x86asm.SUB, x86asm.INC, x86asm.DEC:
		a.add(s, i, to, n, int64(size))
	case x86asm.AND:
		if n != amd64.RSP {
			return false
		}
		a.align(s, i.Addr)
	case x86asm.XOR:
		if i.Args[1] != i.Args[0] {
			return false
		}
		a.set(s, i, to, a.constant(0))
	case x86asm.OR:
		if by, ok := i.Args[1].(x86asm.Imm); !ok || by != -1 {
			return false
		}
		a.set(s, i, to, a.constant(-1))
	default:
		return false
	}
	return true
}

// add executes ADD, SUB, INC and DEC of register n, whose name is to.
func (a *analysis) add(s *State, i *amd64.Inst, to x86asm.Reg, n int, size int64) {
	by := a.constant(1)
	if i.Op == x86asm.ADD || i.Op == x86asm.SUB {
		by = a.operand(s, i, i.Args[1], size)
	}
	sign := int64(1)
	if i.Op == x86asm.SUB || i.Op == x86asm.DEC {
		sign = -1
	}
	v := s.Registers[n]
	switch {
	case by != nil && by.Kind == Constant:
		k := by.N
		if size == 4 {
			k = int64(int32(k))
		}
		v = a.plus(v, sign*k)
	case n == amd64.RSP: // space for an array of variable size
		a.align(s, i.Addr)
		return
	case by != nil && sign == 1 && size == 8:
		v = a.sum(v, by, 1)
	default:
		v = nil
	}
	if n == amd64.RSP {
		s.Registers[n] = v
		return
	}
	a.set(s, i, to, v)
}

// implicit executes instructions that write registers or memory other than their first operand.
func (a *analysis) implicit(s *State, i *amd64.Inst) bool {
	switch i.Op {
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV:
		a.lose(s, i.Addr, amd64.RAX, amd64.RDX)
	case x86asm.IMUL:
		if i.Args[1] != nil {
			return false
		}
		a.lose(s, i.Addr, amd64.RAX, amd64.RDX)
	case x86asm.CDQ, x86asm.CQO, x86asm.CWD:
		a.lose(s, i.Addr, amd64.RDX)
	case x86asm.CWDE, x86asm.CBW:
		a.lose(s, i.Addr, amd64.RAX)
	case x86asm.CPUID:
		a.lose(s, i.Addr, amd64.RAX, amd64.RBX, amd64.RCX, amd64.RDX)
	case x86asm.RDTSC, x86asm.RDTSCP, x86asm.XGETBV:
		a.lose(s, i.Addr, amd64.RAX, amd64.RCX, amd64.RDX)
	case x86asm.SYSCALL:
		a.lose(s, i.Addr, amd64.RAX, amd64.RCX, amd64.R11)
		a.clobber(s, i.Addr)
	case x86asm.CMPXCHG:
		a.writes(s, i, i.Args[0])
		a.lose(s, i.Addr, amd64.RAX)
	case x86asm.CMPXCHG8B, x86asm.CMPXCHG16B:
		a.writes(s, i, i.Args[0])
		a.lose(s, i.Addr, amd64.RAX, amd64.RDX)
	case x86asm.XADD:
		a.writes(s, i, i.Args[0])
		a.writes(s, i, i.Args[1])
	case x86asm.MULX:
		a.writes(s, i, i.Args[0])
		a.writes(s, i, i.Args[1])
	case x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ, x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ:
		if slot, ok := SlotOf(s.Registers[amd64.RDI]); ok {
			a.escape(slot)
		}
		a.clobber(s, i.Addr)
		a.lose(s, i.Addr, amd64.RCX, amd64.RSI, amd64.RDI)
	case x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ:
		a.lose(s, i.Addr, amd64.RCX, amd64.RSI, amd64.RDI)
	case x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ:
		a.lose(s, i.Addr, amd64.RAX, amd64.RCX, amd64.RSI)
	default:
		return false
	}
	return true
}
