// Breakpoints and the program counter on arm64.

package mpir

import "golang.org/x/sys/unix"

// trap is the breakpoint instruction, brk #0.
var trap = []byte{0x00, 0x00, 0x20, 0xd4}

// trapAdvance is how far the program counter is past the breakpoint after a hit, in bytes.
const trapAdvance = 0

// generalRegisters is the note type of the register set (NT_PRSTATUS).
const generalRegisters = 1

// counter returns the program counter of a stopped thread.
func counter(tid int) (uint64, error) {
	var r unix.PtraceRegsArm64
	err := unix.PtraceGetRegSetArm64(tid, generalRegisters, &r)
	return r.Pc, err
}

// setCounter sets the program counter of a stopped thread.
func setCounter(tid int, pc uint64) error {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(tid, generalRegisters, &r); err != nil {
		return err
	}
	r.Pc = pc
	return unix.PtraceSetRegSetArm64(tid, generalRegisters, &r)
}
