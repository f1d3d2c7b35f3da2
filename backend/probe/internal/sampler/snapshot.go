// Snapshots of held processes: their stacks, memory and images.

package sampler

import (
	"slices"
	"sort"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/image"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
)

// snapshot returns a process as it was while it was held, with the stacks of its threads. Threads
// that have ended are left out.
func (p *process) snapshot(held *hold.Process) *snapshot.Process {
	s := &snapshot.Process{PID: p.pid, Maps: p.maps, Images: p.placed}
	s.Threads = make([]snapshot.Thread, 0, len(held.Threads))
	s.Walker = unwind.Walker{Machine: hold.Machine, Code: p, Memory: p.memoryOf(held), SignMask: held.SignMask}
	for i := range held.Threads {
		t := &held.Threads[i]
		if t.Why == "ended" {
			continue
		}
		out := snapshot.Thread{TID: t.TID, Pointer: t.Pointer, Registers: t.Registers, Why: t.Why}
		if _, known := t.Registers.Get(hold.Machine.PC); known {
			out.Stack = s.Walker.Walk(t.Registers)
		}
		s.Threads = append(s.Threads, out)
	}
	return s
}

// copied is the memory of a process for a snapshot. Stacks are as they were while the process was held;
// all other memory is as it is when it is read for the first time.
type copied struct {
	stacks []hold.Piece // ascending
	now    hold.Memory
	code   func(page uint64) []byte // pages of code that all processes share; nil: none
	pages  map[uint64][]byte        // that have been read
}

// maxCopied bounds the pages of a process that are kept: 32 MiB.
const maxCopied = 32 << 20 / pageSize

// memoryOf returns the memory of a held process, which shares pages of code with other processes.
func (p *process) memoryOf(held *hold.Process) *copied {
	c := memoryOf(held)
	c.code = p.codePage
	return c
}

// codePage returns page n of the process if it is code of an image; otherwise nil. Other pages that cannot
// be written may differ between processes: pages of relocated data.
func (p *process) codePage(n uint64) []byte {
	m := image.At(p.maps, n*pageSize)
	if m == nil || !m.Executable || m.Writable || m.File == "" {
		return nil
	}
	i := p.module(n * pageSize)
	if i < 0 {
		return nil
	}
	s := p.images[i]
	s.from, s.bias = hold.Memory(p.pid), p.modules[i].Bias
	return s.page(n - s.bias/pageSize)
}

// memoryOf returns the memory of a held process.
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

// Page returns page n, as Read does.
func (c *copied) Page(n uint64) []byte {
	if s := c.stackAt(n * pageSize); s != nil {
		if from := n*pageSize - s.Addr; from+pageSize <= uint64(len(s.Bytes)) {
			return s.Bytes[from:][:pageSize]
		}
	}
	return c.page(n)
}

// stackAt returns the stack that begins at an address or below it and is the nearest; nil: there is none.
func (c *copied) stackAt(addr uint64) *hold.Piece {
	i := sort.Search(len(c.stacks), func(i int) bool { return c.stacks[i].Addr > addr }) - 1
	if i < 0 {
		return nil
	}
	return &c.stacks[i]
}

// Read implements cfi.Memory.
func (c *copied) Read(addr uint64, b []byte) bool {
	if s := c.stackAt(addr); s != nil && s.Read(addr, b) {
		return true
	}
	if len(b) > pageSize {
		return c.now.Read(addr, b)
	}
	for len(b) > 0 {
		page := c.page(addr / pageSize)
		if page == nil {
			return c.now.Read(addr, b)
		}
		n := copy(b, page[addr%pageSize:])
		b, addr = b[n:], addr+uint64(n)
	}
	return true
}

// page returns page n as it was when it was read for the first time; nil: it cannot be read, or too many
// are kept.
func (c *copied) page(n uint64) []byte {
	if page, known := c.pages[n]; known {
		return page
	}
	if len(c.pages) == maxCopied {
		return nil
	}
	if c.pages == nil {
		c.pages = map[uint64][]byte{}
	}
	var page []byte
	if c.code != nil {
		page = c.code(n)
	}
	if page == nil {
		if page = make([]byte, pageSize); !c.now.Read(n*pageSize, page) {
			page = nil
		}
	}
	c.pages[n] = page
	return page
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
	s, addr := x.images[x.i], pc-x.Module().Bias
	f, known := s.around[addr]
	if !known {
		f, _ = x.symbols().Function(addr)
		s.loaded = true
		if len(s.around) == maxPlaces {
			clear(s.around)
		}
		if s.named {
			s.around[addr] = f
		}
	}
	return f.Name, f.First + x.Module().Bias, f.Name != ""
}

// Address implements snapshot.Image.
func (x placed) Address(symbol string) (addr uint64, ok bool) {
	addr, ok = x.symbols().Address(symbol)
	return addr + x.Module().Bias, ok
}

// Link implements snapshot.Image.
func (x placed) Link(slot uint64) string {
	m := x.Module()
	return x.images[x.i].linkOf(m, x.pid, slot-m.Bias)
}

// Section implements snapshot.Image.
func (x placed) Section(name string) (addr, size uint64, ok bool) {
	addr, size, ok = x.symbols().Section(name)
	return addr + x.Module().Bias, size, ok
}
