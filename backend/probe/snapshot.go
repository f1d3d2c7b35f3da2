// Snapshots of processes for those who read more than native stacks.

package probe

import (
	"slices"
	"sort"

	"sdm/backend/probe/hold"
	"sdm/backend/probe/image"
	"sdm/backend/probe/snapshot"
	"sdm/backend/probe/unwind"
)

// snapshot returns a process as it was while it was held, with the stacks of its threads. Threads
// that have ended are left out.
func (p *process) snapshot(held *hold.Process) *snapshot.Process {
	s := &snapshot.Process{PID: p.pid, Maps: p.maps}
	s.Walker = unwind.Walker{Machine: hold.Machine, Code: p, Memory: memoryOf(held)}
	for i := range p.modules {
		s.Images = append(s.Images, placed{p, i})
	}
	for i := range held.Threads {
		t := &held.Threads[i]
		if t.Why == "ended" {
			continue
		}
		out := snapshot.Thread{TID: t.TID, Pointer: t.Pointer, Registers: t.Registers, Why: t.Why}
		if t.Why == "" {
			out.Stack = s.Walker.Walk(t.Registers)
		}
		s.Threads = append(s.Threads, out)
	}
	return s
}

// copied is the memory of a process as it was while it was held: the copies of stacks, and
// everything else as it is now.
type copied struct {
	stacks []hold.Piece // ascending
	now    hold.Memory
}

func memoryOf(held *hold.Process) *copied {
	c := &copied{now: hold.Memory(held.PID)}
	for _, t := range held.Threads {
		if len(t.Stack.Bytes) > 0 {
			c.stacks = append(c.stacks, t.Stack)
		}
	}
	slices.SortFunc(c.stacks, func(a, b hold.Piece) int {
		if a.Addr < b.Addr {
			return -1
		}
		return 1
	})
	return c
}

// Read implements cfi.Memory.
func (c *copied) Read(addr uint64, b []byte) bool {
	i := sort.Search(len(c.stacks), func(i int) bool { return c.stacks[i].Addr > addr }) - 1
	return i >= 0 && c.stacks[i].Read(addr, b) || c.now.Read(addr, b)
}

// placed is an image of a process. It implements snapshot.Image.
type placed struct {
	*process
	i int
}

var _ snapshot.Image = placed{}

// Module implements snapshot.Image.
func (x placed) Module() *image.Module { return &x.modules[x.i] }

// symbols returns what is read from the file of the image; nil: nothing.
func (x placed) symbols() *image.Symbols {
	s := x.images[x.i]
	s.need(x.Module(), x.pid)
	return s.symbols
}

// Function implements snapshot.Image.
func (x placed) Function(pc uint64) (symbol string, first uint64, ok bool) {
	symbol, first, ok = x.symbols().Function(pc - x.Module().Bias)
	return symbol, first + x.Module().Bias, ok
}

// Address implements snapshot.Image.
func (x placed) Address(symbol string) (addr uint64, ok bool) {
	addr, ok = x.symbols().Address(symbol)
	return addr + x.Module().Bias, ok
}

// Section implements snapshot.Image.
func (x placed) Section(name string) (addr, size uint64, ok bool) {
	addr, size, ok = x.symbols().Section(name)
	return addr + x.Module().Bias, size, ok
}
