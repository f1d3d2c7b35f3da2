// Frames of signal handlers in code without tables.

package unwind

import (
	"sdm/backend/probe/internal/cfi"
)

// Signals describes how signal handlers return. Debuggers recognize that by the bytes of the code.
type Signals struct {
	Code string // the code to which handlers return: the system call rt_sigreturn
	// Saved are the places of the registers that the kernel has stored, by DWARF number: offsets from the
	// stack pointer that Code has.
	Saved []uint64
}

// signalsAMD64 and signalsARM64 are the layouts of Linux (struct rt_sigframe: on x86-64 the context is at
// 40, on arm64 its registers are at 312).
var (
	signalsAMD64 = Signals{
		Code:  "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", // mov $15,%rax; syscall
		Saved: []uint64{144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168},
	}
	signalsARM64 = Signals{
		Code:  "\x68\x11\x80\xd2\x01\x00\x00\xd4", // mov x8, #139; svc #0
		Saved: savedARM64(),
	}
)

// savedARM64 returns the places of x0 to x30, the stack pointer and the program counter.
func savedARM64() (all []uint64) {
	for n := range uint64(cfi.MaxRegisters) {
		all = append(all, 312+8*n)
	}
	return all
}

// isSignalReturn reports whether an address is in the code to which signal handlers return.
func (w *Walker) isSignalReturn(to uint64) bool {
	code := make([]byte, len(w.Machine.Signals.Code))
	return w.Memory.Read(to, code) && string(code) == w.Machine.Signals.Code
}

// interrupted returns the registers that a thread had when it was interrupted by a signal.
func (w *Walker) interrupted(regs *cfi.Registers) (caller cfi.Registers, ok bool) {
	sp, _ := regs.Get(w.Machine.SP)
	for n, at := range w.Machine.Signals.Saved {
		v, ok := w.load(sp + at)
		if !ok {
			return caller, false
		}
		caller.Set(uint64(n), v)
	}
	return caller, true
}
