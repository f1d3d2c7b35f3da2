// The search for return addresses.

package unwind

import (
	"bytes"
	"encoding/binary"

	"sdm/backend/probe/internal/cfi"
)

const (
	maxSearched = 16 << 10  // bytes of the stack: the variables of kernels in assembler have up to 10 KB
	maxFunction = 256 << 10 // bytes of a function whose entry is known only as the target of a call
	maxDerived  = 8         // functions whose code is followed in a search
	maxTried    = 32        // callers that are followed to the end of the stack
	maxInner    = 4096      // frames that are followed for each of them
)

// search looks for the return address of a frame among the words of the stack. It prefers one after a call of
// this very function whose instructions confirm the place of the return address (ByCode); otherwise it takes
// the first one from which the rest of the stack can be followed to its end (BySearch). entry is the first
// address of the function, or 0. Only words below end are examined: the stack pointer of the caller to which
// the frame pointer leads, if it leads to one.
func (w *walk) search(f *Frame, regs *cfi.Registers, entry, end uint64) (caller cfi.Registers, how How, ok bool) {
	if w.searches == 0 || w.inner || w.Machine.Link != 0 {
		return caller, how, false
	}
	w.searches--
	candidates := w.candidates(f, end)
	if entry == 0 {
		if caller, ok := w.confirmed(f, regs, candidates); ok {
			return caller, ByCode, true
		}
	}
	return w.follow(candidates, regs, entry)
}

// confirmed returns the caller whose call has a function as its target from which the code comes to the address
// of the frame, and whose instructions confirm where the return address is. Functions that begin below the address
// are tried first; others may jump to the one of the frame.
func (w *walk) confirmed(f *Frame, regs *cfi.Registers, candidates []candidate) (caller cfi.Registers, ok bool) {
	for _, below := range []bool{true, false} {
		derived := 0
		for _, c := range candidates {
			target := w.target(c.to)
			for range maxJumps { // through stubs to the function
				if to, isStub := w.stub(target); isStub {
					target = to
				}
			}
			if target == 0 || below != (target <= f.PC && f.PC-target <= maxFunction) {
				continue
			}
			if derived++; derived > maxDerived {
				break
			}
			if caller, ok := w.byCode(f, regs, target); ok {
				if sp, _ := caller.Get(w.Machine.SP); sp == c.at+8 {
					return caller, true
				}
			}
		}
	}
	return w.byMark(f, regs)
}

// maxMarked bounds the distance of an address from the mark at the begin of its function, in bytes.
const maxMarked = 16 << 10

// byMark returns the caller of a function that was called through a pointer. Compilers mark the begin of such functions
// by ENDBR64, which is also where setjmp returns, but seldom at the alignment of functions.
func (w *walk) byMark(f *Frame, regs *cfi.Registers) (caller cfi.Registers, ok bool) {
	const alignment = 16
	b := make([]byte, maxMarked)
	at := f.Lookup()&^(alignment-1) + alignment - maxMarked
	for !w.Memory.Read(at, b) {
		at += uint64(len(b) - len(b)/2)
		if b = b[len(b)-len(b)/2:]; len(b) < alignment {
			return caller, false
		}
	}
	for n := len(b) - alignment; n >= 0; n -= alignment {
		if !bytes.HasPrefix(b[n:], endBranch) {
			continue
		}
		entry := at + uint64(n)
		caller, ok := w.byCode(f, regs, entry)
		to, _ := caller.Get(w.Machine.PC)
		target := w.target(to)
		return caller, ok && (target == 0 || w.leads(target, entry))
	}
	return caller, false
}

// candidate is a word of the stack at address at that may be a return address, to.
type candidate struct{ at, to uint64 }

// candidates returns the words of the stack between the stack pointer of a frame and end that calls precede.
func (w *Walker) candidates(f *Frame, end uint64) (all []candidate) {
	b := make([]byte, min(maxSearched, end-f.SP))
	for !w.Memory.Read(f.SP, b) {
		if b = b[:len(b)/2&^7]; len(b) < 8 {
			return nil
		}
	}
	for n := 0; n+8 <= len(b); n += 8 {
		if to := binary.LittleEndian.Uint64(b[n:]); w.check(to) == nil && w.called(to) {
			all = append(all, candidate{f.SP + uint64(n), to})
		}
	}
	return all
}

// follow returns the first candidate from which the rest of the stack can be followed to its end. Return
// addresses of direct calls of other functions are left out. Each candidate is tried twice, without known
// registers and with the registers of the frame, since the function may have changed them or not.
func (w *walk) follow(candidates []candidate, regs *cfi.Registers, entry uint64) (caller cfi.Registers, how How, ok bool) {
	tried := 0
	for _, c := range candidates {
		if target := w.target(c.to); target != 0 && !(entry != 0 && w.leads(target, entry)) {
			continue
		}
		var bare cfi.Registers
		kept := *regs
		for _, caller := range []*cfi.Registers{&bare, &kept} {
			if tried++; tried > maxTried {
				return cfi.Registers{}, how, false
			}
			caller.Set(w.Machine.SP, c.at+8)
			caller.Set(w.Machine.PC, c.to)
			inner := walk{Walker: w.Walker, inner: true}
			if s, _ := inner.walk(*caller, maxInner); s.Cut == "" && len(s.Frames) > 1 {
				return *caller, BySearch, true
			}
		}
	}
	return cfi.Registers{}, how, false
}

// offset returns a signed number of 4 bytes.
func offset(b []byte) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(b)))) }
