// Memory of other processes.

package hold

import (
	"golang.org/x/sys/unix"
)

// Memory is the memory of a running process (process_vm_readv(2)). Several goroutines may use it.
type Memory int

// Read implements cfi.Memory.
func (pid Memory) Read(addr uint64, b []byte) bool {
	n, err := pid.part(addr, b)
	return err == nil && n == len(b)
}

func (pid Memory) part(addr uint64, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	return unix.ProcessVMReadv(int(pid), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0)
}

// Piece is a copy of memory.
type Piece struct {
	Addr  uint64
	Bytes []byte
}

// Read implements cfi.Memory for addresses in the piece.
func (p Piece) Read(addr uint64, b []byte) bool {
	from := addr - p.Addr
	if addr < p.Addr || from > uint64(len(p.Bytes)) || uint64(len(b)) > uint64(len(p.Bytes))-from {
		return false
	}
	copy(b, p.Bytes[from:])
	return true
}

// redZone is memory below the stack pointer that a function of x86-64 may use.
const redZone = 128

func (p *Process) copyStacks(each int, end func(sp uint64) uint64) {
	for i := range p.Threads {
		t := &p.Threads[i]
		sp, ok := t.Registers.Get(stackPointer)
		if !ok || sp < redZone {
			continue
		}
		from := sp - redZone
		to := end(sp)
		if to <= sp {
			continue
		}
		b := make([]byte, min(to-from, uint64(each)))
		if n, err := Memory(p.PID).part(from, b); err == nil {
			t.Stack = Piece{Addr: from, Bytes: b[:n]}
		}
	}
}
