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

// part reads into b up to the first page that cannot be read, and returns the number of bytes.
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

// copyStacks copies the stacks of all threads whose stack pointers are known, with few system calls. each
// bounds a stack, in bytes; end is Steps.StackEnd of the process.
func (p *Process) copyStacks(each int, end func(sp uint64) uint64, buffer *Buffer) {
	p.copied = p.copied[:0]
	for i := range p.Threads {
		t := &p.Threads[i]
		sp, ok := t.Registers.Get(stackPointer)
		if !ok || sp < redZone {
			continue
		}
		to := end(sp)
		if to <= sp {
			continue
		}
		from := sp - redZone
		t.Stack = Piece{Addr: from, Bytes: buffer.take(int(min(to-from, uint64(each))))}
		p.copied = append(p.copied, i)
	}
	stack := func(i int) *Piece { return &p.Threads[p.copied[i]].Stack }
	Memory(p.PID).readParts(len(p.copied), func(i int) (uint64, []byte) {
		s := stack(i)
		return s.Addr, s.Bytes
	}, func(i, got, _ int) { stack(i).Bytes = stack(i).Bytes[:got] })
}

// Buffer is memory for the copies of stacks. Its pages are present before a process is held. The zero value
// is empty; it grows to the size that was needed the last time.
type Buffer struct {
	all, free []byte
	needed    int // bytes that were taken since prepare
}

const (
	leastBuffer = 256 << 10
	eachBuffer  = 4 << 10 // for each thread
	maxBuffer   = 8 << 20 // larger ones are not kept
)

// prepare makes the whole buffer free, and resizes it for a number of threads.
func (b *Buffer) prepare(threads int) {
	if size := min(max(b.needed+b.needed/4, leastBuffer, threads*eachBuffer), maxBuffer); size > len(b.all) {
		b.all = make([]byte, size)
		clear(b.all) // so that its pages are present
	}
	b.free, b.needed = b.all, 0
}

// take returns n bytes.
func (b *Buffer) take(n int) []byte {
	b.needed += n
	if n > len(b.free) {
		return make([]byte, n)
	}
	p := b.free[:n:n]
	b.free = b.free[n:]
	return p
}
