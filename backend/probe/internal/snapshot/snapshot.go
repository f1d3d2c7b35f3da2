// Package snapshot describes processes as they were while their threads were stopped together:
// stacks, registers, memory and images. Readers of arguments of calls start from
// it. It is pure: memory and images are interfaces.
package snapshot

import (
	"sort"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/unwind"
)

// Process is a process at one instant. One goroutine uses it at a time, and only until the process
// is read the next time.
type Process struct {
	PID int
	// Walker follows stacks: its Memory has the stacks as they were at the instant, and everything
	// else as it is when it is read.
	Walker unwind.Walker
	// Images are the program, its libraries and the vDSO, ascending by address.
	Images []Image
	// Maps are the mappings, ascending, as they were before the instant.
	Maps    []image.Mapping
	Threads []Thread
}

// Thread is a thread of a process.
type Thread struct {
	TID int
	// Pointer is the thread pointer, which pthread_self returns on x86-64; 0: not known.
	Pointer uint64
	// Registers are those at the instant. If the thread was not stopped, only the stack pointer and the
	// program counter are known, and only while it waits in the kernel.
	Registers cfi.Registers
	// Stack has the frames, innermost first. It is empty if no register is known.
	Stack unwind.Stack
	// Why says why the thread was not stopped; "": it was.
	Why string
}

// Image is a program or library at its place in a process. All addresses are as in the process.
type Image interface {
	// Module returns its place, path and build-id.
	Module() *image.Module
	// Function returns the symbol of the function that contains an address, as it is in the symbol
	// table, and the first address of the function; ok is false if none does.
	Function(pc uint64) (symbol string, first uint64, ok bool)
	// Address returns the address of a function or variable that the image defines; ok is false if
	// it defines none of this name.
	Address(symbol string) (addr uint64, ok bool)
	// Link returns the name of the function or variable whose address the dynamic linker stores at
	// an address; "": it stores none there.
	Link(slot uint64) string
	// Section returns the place of a section such as .PyRuntime; ok is false if the image has no
	// such section in memory, or its file cannot be read.
	Section(name string) (addr, size uint64, ok bool)
}

// At returns the image at an address; nil: there is none.
func (p *Process) At(addr uint64) Image {
	i := sort.Search(len(p.Images), func(i int) bool { return p.Images[i].Module().End > addr })
	if i == len(p.Images) || addr < p.Images[i].Module().First {
		return nil
	}
	return p.Images[i]
}

// Memory returns the memory of the process: stacks as they were, the rest as it is now.
func (p *Process) Memory() cfi.Memory { return p.Walker.Memory }

// Page returns page n of Memory, of 4 KiB, which must not be changed; nil: it cannot be read.
func (p *Process) Page(n uint64) []byte {
	const size = 4096
	if m, ok := p.Walker.Memory.(interface{ Page(n uint64) []byte }); ok {
		return m.Page(n)
	}
	b := make([]byte, size)
	if !p.Walker.Memory.Read(n*size, b) {
		return nil
	}
	return b
}

// RegistersAt returns the registers of frame i of a thread: those at the instant for frame 0, and
// for a caller what the functions below it have saved. A register whose value cannot be found is
// unknown. Registers have DWARF numbers (cfi.Registers). It follows the stack once more.
func (p *Process) RegistersAt(t *Thread, i int) cfi.Registers {
	return p.Walker.RegistersAt(t.Registers, i)
}
