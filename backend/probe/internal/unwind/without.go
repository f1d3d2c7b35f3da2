// Callers of code without tables.

package unwind

import (
	"bytes"
	"errors"
	"fmt"

	"sdm/backend/probe/internal/cfi"
)

// without finds the caller of a frame without tables, and sets how it was found. name is the name of the
// image; "": generated code. The most reliable ways are tried first.
func (w *walk) without(f *Frame, regs *cfi.Registers, name string) (cfi.Registers, error) {
	if f.Exact && !w.Code.Executable(f.PC) {
		return w.calledWild(regs)
	}
	if w.isSignalReturn(f.PC) {
		if caller, ok := w.interrupted(regs); ok {
			f.Signal, f.How = true, ByCode
			return caller, nil
		}
	}
	if caller, ok := w.byEpilogue(regs); ok {
		f.How = ByCode
		return caller, nil
	}
	entry, known := w.Code.Function(f.Lookup())
	if !known {
		entry = 0
	} else {
		if caller, ok := w.byCode(f, regs, entry); ok {
			f.How = ByCode
			return caller, nil
		}
	}
	pointed, isPointed := w.byPointer(regs)
	if to, _ := pointed.Get(w.Machine.PC); isPointed && known && w.leads(w.target(to), entry) && w.Machine.Points(w.bytes(entry), f.Lookup()-entry) {
		f.How = ByCode
		return pointed, nil
	}
	end := ^uint64(0)
	if isPointed {
		end, _ = pointed.Get(w.Machine.SP)
	}
	if name != "" { // for generated code only the frame pointer is used
		if caller, how, ok := w.search(f, regs, entry, end); ok {
			f.How = how
			return caller, nil
		}
	}
	if isPointed {
		f.How = ByPointer
		return pointed, nil
	}
	if name == "" {
		name = "memory of no file"
	}
	return cfi.Registers{}, fmt.Errorf("no unwind tables in %s", name)
}

// calledWild returns the caller if the thread has called through a pointer that does not point to code: then
// only the return address has been stored.
func (w *Walker) calledWild(regs *cfi.Registers) (cfi.Registers, error) {
	caller := *regs
	if w.Machine.Link != 0 {
		to, _ := regs.Get(w.Machine.Link)
		caller.Set(w.Machine.PC, to)
		return caller, w.check(to)
	}
	sp, _ := regs.Get(w.Machine.SP)
	to, _ := w.load(sp)
	caller.Set(w.Machine.SP, sp+8)
	caller.Set(w.Machine.PC, to)
	return caller, w.check(to)
}

// check returns an error if an address cannot be a return address.
func (w *Walker) check(to uint64) error {
	if to == 0 || !w.Code.Executable(to-1) {
		return errors.New("jump to no code")
	}
	return nil
}

// byCode returns the caller as derived from the instructions of the function that begins at entry. ok is false
// if nothing is derived, or no call precedes the return address.
func (w *Walker) byCode(f *Frame, regs *cfi.Registers, entry uint64) (caller cfi.Registers, ok bool) {
	row, _ := w.Code.Derived(entry, f.Lookup())
	if row == nil {
		return caller, false
	}
	caller, cfa, err := row.Caller(regs, w.Memory, w.Machine.SP, w.Machine.PC)
	to, _ := caller.Get(w.Machine.PC)
	sp, _ := regs.Get(w.Machine.SP)
	return caller, err == nil && cfa > sp && cfa%8 == 0 && w.check(to) == nil && w.called(to)
}

// byPointer follows the frame pointer, if it leads to a return address that a call precedes.
func (w *Walker) byPointer(regs *cfi.Registers) (cfi.Registers, bool) {
	fp, ok := regs.Get(w.Machine.FP)
	sp, _ := regs.Get(w.Machine.SP)
	if !ok || fp < sp || fp%8 != 0 {
		return cfi.Registers{}, false
	}
	before, ok1 := w.load(fp)
	to, ok2 := w.load(fp + 8)
	to &^= w.SignMask
	if !ok1 || !ok2 || w.check(to) != nil || !w.called(to) {
		return cfi.Registers{}, false
	}
	caller := cfi.Registers{}
	caller.Set(w.Machine.FP, before)
	caller.Set(w.Machine.SP, fp+16)
	caller.Set(w.Machine.PC, to)
	return caller, true
}

// called reports whether a call ends at an address, or signal handlers return to it.
func (w *Walker) called(to uint64) bool {
	is, _ := w.call(to)
	return is || w.isSignalReturn(to)
}

// target returns where the call that ends at an address leads; 0: not known.
func (w *Walker) target(to uint64) uint64 {
	_, target := w.call(to)
	return target
}

// call returns whether a call ends at an address, and its target; 0: not known.
func (w *Walker) call(to uint64) (is bool, target uint64) {
	var code [maxCall]byte
	if to < maxCall || !w.Memory.Read(to-maxCall, code[:]) {
		return false, 0
	}
	return w.Machine.Call(code[:], to)
}

// bytes returns the first instructions of a function.
func (w *Walker) bytes(entry uint64) []byte {
	b := make([]byte, 16)
	if !w.Memory.Read(entry, b) {
		return nil
	}
	return b
}

// maxJumps bounds a chain of stubs, and of functions that only jump to another one.
const maxJumps = 3

// leads reports whether code at an address is the function at entry, or only jumps there.
func (w *Walker) leads(from, entry uint64) bool {
	for range maxJumps {
		if from == entry {
			return from != 0
		}
		to, ok := w.stub(from)
		if !ok {
			return false
		}
		from = to
	}
	return from == entry
}

// stub returns the target of a stub of the linker (x86-64): code that is only a jump, perhaps after ENDBR64.
func (w *Walker) stub(at uint64) (uint64, bool) {
	var b [16]byte
	if at == 0 || w.Machine.Link != 0 || !w.Memory.Read(at, b[:]) {
		return 0, false
	}
	code := b[:]
	if bytes.HasPrefix(code, endBranch) {
		code, at = code[4:], at+4
	}
	if code[0] == 0xf2 { // BND
		code, at = code[1:], at+1
	}
	switch {
	case code[0] == 0xff && code[1] == 0x25:
		return w.load(at + 6 + offset(code[2:]))
	case code[0] == 0xe9:
		return at + 5 + offset(code[1:]), true
	}
	return 0, false
}
