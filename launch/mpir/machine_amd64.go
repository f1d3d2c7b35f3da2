// Breakpoints and the program counter on amd64.

package mpir

import "syscall"

// trap is the breakpoint instruction, int3.
var trap = []byte{0xcc}

// trapAdvance is how far the program counter is past the breakpoint after a hit, in bytes.
const trapAdvance = 1

// counter returns the program counter of a stopped thread.
func counter(tid int) (uint64, error) {
	var r syscall.PtraceRegs
	err := syscall.PtraceGetRegs(tid, &r)
	return r.Rip, err
}

// setCounter sets the program counter of a stopped thread.
func setCounter(tid int, pc uint64) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rip = pc
	return syscall.PtraceSetRegs(tid, &r)
}
