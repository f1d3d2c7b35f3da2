// Moves through vector registers.

package dataflow

import (
	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// vectorNumber returns the number of a vector register of any size; -1: it is none.
func vectorNumber(r x86asm.Reg) int {
	switch {
	case r >= x86asm.X0 && r <= x86asm.X15:
		return int(r - x86asm.X0)
	case r >= x86asm.Y0 && r <= x86asm.Y15:
		return int(r - x86asm.Y0)
	case r >= x86asm.Z0 && r <= x86asm.Z15:
		return int(r - x86asm.Z0)
	}
	return -1
}

// wholeMoves are the instructions that move 16 bytes, aligned or not.
var wholeMoves = map[x86asm.Op]bool{
	x86asm.MOVAPS: true, x86asm.MOVUPS: true, x86asm.MOVDQA: true, x86asm.MOVDQU: true, x86asm.MOVAPD: true, x86asm.MOVUPD: true,
	x86asm.MOVNTPS: true, x86asm.MOVNTDQ: true,
	x86asm.VMOVAPS: true, x86asm.VMOVUPS: true, x86asm.VMOVDQA: true, x86asm.VMOVDQU: true, x86asm.VMOVAPD: true, x86asm.VMOVUPD: true,
}

// vector executes moves through vector registers, with which compilers store two values at once.
func (a *analysis) vector(s *State, i *amd64.Inst) bool {
	to, from := amd64.Vector(i.Args[0]), amd64.Vector(i.Args[1])
	switch i.Op {
	case x86asm.MOVQ, x86asm.VMOVQ:
		if to >= 0 {
			s.vectors[to] = [2]*Value{a.lower(s, i, i.Args[1]), a.constant(0)}
		} else {
			a.storeHalf(s, i, s.half(from, 0))
		}
	case x86asm.MOVD, x86asm.VMOVD, x86asm.MOVSS, x86asm.MOVSD_XMM:
		a.writes(s, i, i.Args[0])
	case x86asm.PUNPCKLQDQ:
		if to < 0 {
			return false
		}
		s.vectors[to][1] = s.half(from, 0)
	case x86asm.VPUNPCKLQDQ, x86asm.VPINSRQ:
		upper, third := amd64.Vector(i.Args[1]), i.Args[2]
		if to < 0 || i.Op == x86asm.VPINSRQ && i.Args[3] != x86asm.Imm(1) {
			return false
		}
		s.vectors[to] = [2]*Value{s.half(upper, 0), a.lower(s, i, third)}
	case x86asm.PINSRQ:
		if to < 0 || i.Args[2] != x86asm.Imm(1) {
			return false
		}
		s.vectors[to][1] = a.lower(s, i, i.Args[1])
	case x86asm.MOVHPS, x86asm.MOVHPD:
		if to >= 0 {
			s.vectors[to][1] = a.lower(s, i, i.Args[1])
		} else {
			a.storeHalf(s, i, s.half(from, 1))
		}
	case x86asm.MOVLPS, x86asm.MOVLPD:
		if to >= 0 {
			s.vectors[to][0] = a.lower(s, i, i.Args[1])
		} else {
			a.storeHalf(s, i, s.half(from, 0))
		}
	case x86asm.PXOR, x86asm.XORPS, x86asm.XORPD:
		if to < 0 || to != from {
			return false
		}
		s.vectors[to] = [2]*Value{a.constant(0), a.constant(0)}
	case x86asm.VPXOR, x86asm.VXORPS, x86asm.VXORPD:
		if to < 0 || i.Args[1] != i.Args[2] {
			return false
		}
		s.vectors[to] = [2]*Value{a.constant(0), a.constant(0)}
	default:
		return wholeMoves[i.Op] && a.whole(s, i, to, from)
	}
	return true
}

// half returns a half of a vector register; nil: not known, or n is no register.
func (s *State) half(n, k int) *Value {
	if n < 0 {
		return nil
	}
	return s.vectors[n][k]
}

// lower returns the lower 8 bytes of an operand; nil: not known, as for all memory outside of the stack.
func (a *analysis) lower(s *State, i *amd64.Inst, arg x86asm.Arg) *Value {
	if m, ok := arg.(x86asm.Mem); ok {
		return a.stored(s, a.effective(s, i, m))
	}
	if n := amd64.Vector(arg); n >= 0 {
		return s.vectors[n][0]
	}
	if n, size, ok := amd64.GeneralArg(arg); ok && size == 8 {
		return s.Registers[n]
	}
	return nil
}

// storeHalf writes 8 bytes to the first operand.
func (a *analysis) storeHalf(s *State, i *amd64.Inst, v *Value) {
	switch x := i.Args[0].(type) {
	case x86asm.Mem:
		a.store(s, a.effective(s, i, x), v, 8)
	case x86asm.Reg:
		a.set(s, i, x, v)
	}
}

// whole executes a move of 16 bytes.
func (a *analysis) whole(s *State, i *amd64.Inst, to, from int) bool {
	mem, toMem := i.Args[0].(x86asm.Mem)
	source, fromMem := i.Args[1].(x86asm.Mem)
	switch {
	case to >= 0 && from >= 0:
		s.vectors[to] = s.vectors[from]
	case to >= 0 && fromMem:
		first, second := source, source
		second.Disp += 8
		s.vectors[to] = [2]*Value{a.lower(s, i, first), a.lower(s, i, second)}
	case toMem && from >= 0:
		for k, v := range s.vectors[from] {
			m := mem
			m.Disp += int64(8 * k)
			a.store(s, a.effective(s, i, m), v, 8)
		}
	default:
		return false
	}
	return true
}
