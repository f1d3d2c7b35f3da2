// Registers of threads on arm64.

package hold

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/unwind"
)

// Machine is the machine of this host.
var Machine = unwind.ARM64

// stackPointer is the DWARF number of the stack pointer.
const stackPointer = 31

// syscallArguments are the DWARF numbers of the registers of the arguments of a system call.
var syscallArguments = [6]uint64{0, 1, 2, 3, 4, 5}

// RegistersOf returns the registers of a stopped thread, by their DWARF numbers (DWARF for the Arm
// 64-bit Architecture), and its thread pointer.
func RegistersOf(tid int) (r cfi.Registers, pointer uint64, err error) {
	r, pointer, _, err = registersOf(tid)
	return r, pointer, err
}

// knowsCalls: kernelcall does not have the numbers of system calls of this machine.
const knowsCalls = false

// registersOf is RegistersOf. The system call in which the thread waits is not known.
func registersOf(tid int) (r cfi.Registers, pointer uint64, call kernelcall.Call, err error) {
	call.Number = kernelcall.None
	var u unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &u); err != nil {
		return r, 0, call, err
	}
	for n, v := range u.Regs {
		r.Set(uint64(n), v)
	}
	r.Set(stackPointer, u.Sp)
	r.Set(Machine.PC, u.Pc)
	return r, threadPointer(tid), call, nil
}

// Types of register sets (linux/elf.h).
const (
	noteTLS     = 0x401 // NT_ARM_TLS: the thread pointer
	noteSigning = 0x406 // NT_ARM_PAC_MASK: bits of signed addresses, of data and of code
)

// threadPointer returns TPIDR_EL0 of a stopped thread; 0: it is not known.
func threadPointer(tid int) uint64 { return registerSet(tid, noteTLS)[0] }

// signMask returns the bits of return addresses that hold authentication codes, which are the same for all
// threads; 0: none do.
func signMask(tid int) uint64 { return registerSet(tid, noteSigning)[1] }

// registerSet returns the first two 64-bit numbers of a register set, by its type; they are 0 if it cannot be
// read.
func registerSet(tid, note int) (set [2]uint64) {
	var b [16]byte
	v := unix.Iovec{Base: &b[0]}
	v.SetLen(len(b))
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid), uintptr(note), uintptr(unsafe.Pointer(&v)), 0, 0)
	if errno != 0 {
		return set
	}
	return [2]uint64{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
}
