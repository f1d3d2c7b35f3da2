// Registers of threads on x86-64.

package hold

import (
	"golang.org/x/sys/unix"

	"sdm/backend/probe/cfi"
	"sdm/backend/probe/unwind"
)

// Machine is the machine of this host.
var Machine = unwind.AMD64

// stackPointer is the DWARF number of the stack pointer.
const stackPointer = 7

// syscallArguments are the DWARF numbers of the registers of the arguments of a system call.
var syscallArguments = [6]uint64{5, 4, 1, 10, 8, 9}

// RegistersOf returns the registers of a stopped thread, by their DWARF numbers (psABI of x86-64,
// figure 3.36), and its thread pointer.
func RegistersOf(tid int) (r cfi.Registers, pointer uint64, err error) {
	var u unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &u); err != nil {
		return r, 0, err
	}
	for n, v := range []uint64{u.Rax, u.Rdx, u.Rcx, u.Rbx, u.Rsi, u.Rdi, u.Rbp, u.Rsp, u.R8, u.R9, u.R10, u.R11, u.R12, u.R13, u.R14, u.R15, u.Rip} {
		r.Set(uint64(n), v)
	}
	return r, u.Fs_base, nil
}

// signMask returns 0: x86-64 does not sign addresses.
func signMask(int) uint64 { return 0 }
