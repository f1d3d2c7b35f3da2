// Frames of signals in code without tables.

package unwind

import (
	"sdm/backend/probe/cfi"
)

// returnFromSignal is the code of x86-64 to which handlers of signals return, of all C libraries, since
// debuggers know it by its bytes: mov $15,%rax; syscall.
const returnFromSignal = "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"

// isSignalReturn reports whether a handler of a signal returns to an address.
func (w *Walker) isSignalReturn(to uint64) bool {
	var code [len(returnFromSignal)]byte
	return w.Machine.Link == 0 && w.Memory.Read(to, code[:]) && string(code[:]) == returnFromSignal
}

// savedAt is where the kernel stores registers, from the stack pointer on with which a handler has returned
// (Linux, struct ucontext of x86-64: the context is at 40), by their DWARF numbers.
var savedAt = [...]uint64{144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168}

// interrupted returns the registers that a thread had when a signal came.
func (w *Walker) interrupted(regs *cfi.Registers) (caller cfi.Registers, ok bool) {
	sp, _ := regs.Get(w.Machine.SP)
	for n, at := range savedAt {
		v, ok := w.load(sp + at)
		if !ok {
			return caller, false
		}
		caller.Set(uint64(n), v)
	}
	return caller, true
}
