// The registers of the caller.

package cfi

import (
	"encoding/binary"
	"errors"
)

// ErrEnd is the error for a frame that has no caller.
var ErrEnd = errors.New("the outermost frame")

// errMemory and errRule are errors for a caller that cannot be determined.
var (
	errMemory = errors.New("stack cannot be read")
	errRule   = errors.New("frame address unknown")
)

// Caller returns the registers of the caller of a frame, with its stack pointer in register sp and
// the return address in register pc, and the canonical frame address. ErrEnd: there is none.
func (r *Row) Caller(regs *Registers, mem Memory, sp, pc uint64) (caller Registers, cfa uint64, err error) {
	cfa, ok := r.frameAddress(regs, mem)
	if !ok {
		return caller, 0, errRule
	}
	if r.ra >= MaxRegisters {
		return caller, cfa, errDamaged
	}
	if r.regs[r.ra].kind == undefined {
		return caller, cfa, ErrEnd
	}
	caller = *regs
	caller.forget(pc)
	caller.Set(sp, cfa)
	for n := range r.regs {
		r.recover(uint64(n), regs, &caller, mem, cfa)
	}
	to, ok := caller.Get(r.ra)
	if !ok {
		return caller, cfa, errMemory
	}
	caller.Set(pc, to)
	return caller, cfa, nil
}

// frameAddress returns the canonical frame address; false if it is not known.
func (r *Row) frameAddress(regs *Registers, mem Memory) (uint64, bool) {
	if r.cfa.kind == isExpression {
		return evaluate(r.cfa.expr, regs, mem)
	}
	base, ok := regs.Get(r.base)
	return base + uint64(r.cfa.offset), ok && r.cfa.kind == isOffset
}

// recover sets register n of the caller by its rule. If its value cannot be found, it becomes unknown.
func (r *Row) recover(n uint64, regs, caller *Registers, mem Memory, cfa uint64) {
	how := &r.regs[n]
	if how.kind == unset || how.kind == same && n != r.ra {
		return
	}
	if v, ok := how.value(regs, mem, cfa, n); ok {
		caller.Set(n, v)
	} else {
		caller.forget(n)
	}
}

// value returns the value of register n of the caller.
func (h *rule) value(regs *Registers, mem Memory, cfa, n uint64) (v uint64, ok bool) {
	switch h.kind {
	case same:
		return regs.Get(n)
	case isOffset:
		return cfa + uint64(h.offset), true
	case inRegister:
		return regs.Get(uint64(h.offset))
	case atOffset:
		return load(mem, cfa+uint64(h.offset))
	case isExpression:
		return evaluate(h.expr, regs, mem, cfa)
	case atExpression:
		if at, ok := evaluate(h.expr, regs, mem, cfa); ok {
			return load(mem, at)
		}
	}
	return 0, false
}

// load reads 8 bytes.
func load(mem Memory, at uint64) (uint64, bool) {
	var b [8]byte
	ok := mem.Read(at, b[:])
	return binary.LittleEndian.Uint64(b[:]), ok
}
