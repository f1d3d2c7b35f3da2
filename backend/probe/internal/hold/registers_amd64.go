// Registers of threads on x86-64.

package hold

import (
	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/unwind"
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
	r, pointer, _, err = registersOf(tid)
	return r, pointer, err
}

// registersOf is RegistersOf, with the system call in which the thread waits.
func registersOf(tid int) (r cfi.Registers, pointer uint64, call kernelcall.Call, err error) {
	var u unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &u); err != nil {
		return r, 0, kernelcall.Call{Number: kernelcall.None}, err
	}
	reenter(tid, &u)
	for n, v := range []uint64{u.Rax, u.Rdx, u.Rcx, u.Rbx, u.Rsi, u.Rdi, u.Rbp, u.Rsp, u.R8, u.R9, u.R10, u.R11, u.R12, u.R13, u.R14, u.R15, u.Rip} {
		r.Set(uint64(n), v)
	}
	return r, u.Fs_base, callOf(&u), nil
}

// knowsCalls: kernelcall has the numbers of system calls of this machine.
const knowsCalls = true

// callOf returns the system call in which a thread waits. A call that a stop has interrupted has one of the results
// by which the kernel restarts it (include/linux/errno.h: 512 to 516), or EINTR, if it is one that is not restarted
// (signal(7)).
func callOf(u *unix.PtraceRegs) kernelcall.Call {
	result := -int64(u.Rax)
	if int64(u.Orig_rax) < 0 || result != int64(unix.EINTR) && (result < 512 || result > 516) {
		return kernelcall.Call{Number: kernelcall.None}
	}
	return kernelcall.Call{Number: int(u.Orig_rax), Args: [6]uint64{u.Rdi, u.Rsi, u.Rdx, u.R10, u.R8, u.R9}}
}

// reenter changes the registers of a thread that another sampler has just let go, and that has not run since: it is
// before the instruction SYSCALL of the call in which it waited, to restart it. They become the registers of the call.
func reenter(tid int, u *unix.PtraceRegs) {
	const size, restartNoHandler, maxCalls = 2, 514, 1 << 10
	code := [8]byte{}
	if u.Rax >= maxCalls {
		return
	}
	if n, err := unix.PtracePeekText(tid, uintptr(u.Rip), code[:]); err != nil || n < size || code[0] != 0x0f || code[1] != 0x05 {
		return
	}
	u.Orig_rax, u.Rip = u.Rax, u.Rip+size
	u.Rax = ^uint64(restartNoHandler) + 1 // any of those by which the kernel restarts it
}

// signMask returns 0: x86-64 does not sign addresses.
func signMask(int) uint64 { return 0 }
