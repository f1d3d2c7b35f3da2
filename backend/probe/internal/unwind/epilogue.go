// Functions without tables that are about to return.

package unwind

import (
	"bytes"
	"encoding/binary"

	"sdm/backend/probe/internal/cfi"
)

// epilogueSize is the number of bytes of code that are read: enough to release the frame, to pop six registers
// and to return.
const epilogueSize = 24

// byEpilogue returns the caller of a function whose next instructions only leave it: they release its frame,
// restore registers and return, or jump to another function through a slot. Code of this kind is also in
// stubs, and in trampolines of generated code, such as Python's for profilers (-X perf).
func (w *Walker) byEpilogue(regs *cfi.Registers) (cfi.Registers, bool) {
	var code [epilogueSize]byte
	pc, _ := regs.Get(w.Machine.PC)
	if w.Machine.Link != 0 || !w.Memory.Read(pc, code[:]) {
		return cfi.Registers{}, false
	}
	caller := *regs
	for b := code[:]; ; {
		n, ret := w.leave(b, &caller)
		if ret {
			to, _ := caller.Get(w.Machine.PC)
			return caller, w.check(to) == nil && w.called(to)
		}
		if n == 0 {
			return cfi.Registers{}, false
		}
		b = b[n:]
	}
}

// popped are the DWARF numbers of the registers, by their numbers in a pop instruction.
var popped = [16]uint64{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

// leave executes the first instruction of b if it is one of those that leave a function, and returns its
// length; otherwise 0. ret is true if the function has returned.
func (w *Walker) leave(b []byte, regs *cfi.Registers) (n int, ret bool) {
	sp, _ := regs.Get(w.Machine.SP)
	pop := func(register uint64, n int) int {
		v, ok := w.load(sp)
		if !ok || register == w.Machine.SP {
			return 0
		}
		regs.Set(register, v)
		regs.Set(w.Machine.SP, sp+8)
		return n
	}
	switch {
	case len(b) >= 1 && b[0] == 0xc3: // ret
		return 0, pop(w.Machine.PC, 1) > 0
	case len(b) >= 2 && b[0] == 0xff && b[1] == 0x25: // jmp *slot(%rip), as in a stub of the linker
		return 0, pop(w.Machine.PC, 1) > 0
	case bytes.HasPrefix(b, endBranch):
		return 4, false
	case len(b) >= 4 && b[0] == 0x48 && b[1] == 0x83 && b[2] == 0xc4 && b[3] < 0x80: // add $n,%rsp
		regs.Set(w.Machine.SP, sp+uint64(b[3]))
		return 4, false
	case len(b) >= 7 && b[0] == 0x48 && b[1] == 0x81 && b[2] == 0xc4 && b[6] < 0x80:
		regs.Set(w.Machine.SP, sp+uint64(binary.LittleEndian.Uint32(b[3:])))
		return 7, false
	case len(b) >= 1 && b[0]&^7 == 0x58: // pop
		return pop(popped[b[0]&7], 1), false
	case len(b) >= 2 && b[0] == 0x41 && b[1]&^7 == 0x58:
		return pop(popped[8+b[1]&7], 2), false
	}
	return 0, false
}
