// Threads that cannot be stopped.

package hold

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/kernelcall"
)

// readBlocked sets the registers of threads that have not been stopped, but wait in the kernel: the stack
// pointer and the program counter, and in a system call its arguments (proc(5), /proc/PID/syscall). It
// returns the texts that it has read, by thread ID. known are registers that a debugger has told.
func (p *Process) readBlocked(known []Known) map[int][]byte {
	var read map[int][]byte
	for i := range p.Threads {
		t := &p.Threads[i]
		if t.stopped || t.Why == "" || t.Why == ended || t.Why == tooMany {
			continue
		}
		text := syscallOf(p.PID, t.TID)
		regs, ok := parseSyscall(string(text))
		if !ok {
			continue
		}
		if read == nil {
			read = map[int][]byte{}
		}
		t.Registers, t.Call, read[t.TID] = regs, parseCall(string(text)), text
		t.complete(known)
	}
	return read
}

// complete adds the registers of the known thread that has the same stack pointer and program counter.
func (t *Thread) complete(known []Known) {
	for i := range known {
		k := &known[i].Registers
		if !same(&t.Registers, k, stackPointer) || !same(&t.Registers, k, Machine.PC) {
			continue
		}
		for n := range uint64(cfi.MaxRegisters) {
			if v, ok := k.Get(n); ok {
				t.Registers.Set(n, v)
			}
		}
		t.Pointer = known[i].Pointer
		return
	}
}

// same reports whether a register is known in both, and equal.
func same(a, b *cfi.Registers, n uint64) bool {
	v, ok := a.Get(n)
	w, ok2 := b.Get(n)
	return ok && ok2 && v == w
}

// confirmBlocked removes the registers and stacks of threads whose text has changed since readBlocked.
func (p *Process) confirmBlocked(read map[int][]byte) {
	for i := range p.Threads {
		t := &p.Threads[i]
		if text, ok := read[t.TID]; ok && !bytes.Equal(text, syscallOf(p.PID, t.TID)) {
			t.Registers, t.Stack, t.Call.Number = cfi.Registers{}, Piece{}, kernelcall.None
		}
	}
}

// syscallOf returns the text of /proc/PID/task/TID/syscall; nil: it cannot be read.
func syscallOf(pid, tid int) []byte {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/syscall", pid, tid))
	if err != nil {
		return nil
	}
	return text
}

// parseSyscall returns the registers of a thread that waits in the kernel. The last two fields are its stack
// pointer and program counter; the number of the system call and its arguments precede them. The text of a
// thread that runs has no fields with registers: ok is false.
func parseSyscall(text string) (r cfi.Registers, ok bool) {
	f := strings.Fields(text)
	if len(f) < 3 {
		return r, false
	}
	sp, err1 := strconv.ParseUint(f[len(f)-2], 0, 64)
	pc, err2 := strconv.ParseUint(f[len(f)-1], 0, 64)
	if err1 != nil || err2 != nil || sp == 0 {
		return r, false
	}
	r.Set(stackPointer, sp)
	r.Set(Machine.PC, pc)
	if len(f) == 1+len(syscallArguments)+2 {
		for i, n := range syscallArguments {
			if v, err := strconv.ParseUint(f[1+i], 0, 64); err == nil {
				r.Set(n, v)
			}
		}
	}
	return r, true
}
