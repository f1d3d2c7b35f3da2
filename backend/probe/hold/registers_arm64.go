package hold

import (
	"golang.org/x/sys/unix"

	"sdm/backend/probe/cfi"
	"sdm/backend/probe/unwind"
)

// Machine is the machine of this host.
var Machine = unwind.ARM64

const stackPointer = 31

// registers returns the registers of a stopped thread, by their DWARF numbers (DWARF for the Arm
// 64-bit Architecture).
func registers(tid int) (r cfi.Registers, err error) {
	var u unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &u); err != nil {
		return r, err
	}
	for n, v := range u.Regs {
		r.Set(uint64(n), v)
	}
	r.Set(stackPointer, u.Sp)
	r.Set(Machine.PC, u.Pc)
	return r, nil
}
