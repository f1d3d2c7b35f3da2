package mpir

import "syscall"

// trap is the breakpoint instruction, int3. After a hit the program counter is after it.
var trap = []byte{0xcc}

const trapAdvance = 1

func counter(tid int) (uint64, error) {
	var r syscall.PtraceRegs
	err := syscall.PtraceGetRegs(tid, &r)
	return r.Rip, err
}

func setCounter(tid int, pc uint64) error {
	var r syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(tid, &r); err != nil {
		return err
	}
	r.Rip = pc
	return syscall.PtraceSetRegs(tid, &r)
}
