// Package emulator executes functions of a process on a copy of its memory. It is pure: nothing runs or changes in the
// process. So functions of a library tell what its data means, without knowledge of its layout. The functions must be
// short and only read. It knows integer instructions of x86-64, moves of 128-bit vectors, and answers calls of some
// functions of the C library itself.
package emulator

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sdm/backend/probe/internal/amd64"
)

// Process is what a Machine needs to know about a process. One goroutine uses it at a time.
type Process interface {
	// Page returns page n of the memory, of 4 KiB, which is not changed; nil: it cannot be read.
	Page(n uint64) []byte
	// Code returns the image that contains an address, with its decoded instructions, to which the machine adds
	// more; nil: no image does.
	Code(addr uint64) *Code
	// Link returns the name of the function whose address the dynamic linker stores at an address;
	// "": it stores none there.
	Link(slot uint64) string
	// Function returns the address of an exported function; 0: there is none.
	Function(name string) uint64
}

// Code is the code of an image of a process. The instructions do not depend on the process, so that all that have
// the image share them.
type Code struct {
	First, End, Bias uint64                 // as in image.Module
	Instructions     map[uint64]*amd64.Inst // by address of the file
}

const (
	// maxWork bounds a call, in instructions or copied elements; those asked for take 50 to 20,000.
	maxWork = 400_000
	// decoding is the number of instructions whose execution takes as long as that one is decoded.
	decoding = 8
	// maxPages bounds the memory that is used: 16 MiB.
	maxPages = 4096
	// maxLoads bounds the record of loads.
	maxLoads = 4096
	// maxCode bounds the decoded instructions of an image that are kept.
	maxCode = 1 << 16
	// maxBytes bounds what one instruction or one function of the C library copies.
	maxBytes = 1 << 20
)

// Addresses of the memory that belongs to the machine. Linux maps nothing there by default.
const (
	stackTop = uint64(0x6fff_0000_0000)
	heap     = uint64(0x6ffe_0000_0000)
	returned = uint64(0x6ffd_0000_0000) // where a call returns to
	ownRange = uint64(1 << 32)          // bytes below or above each of them
)

const pageSize = 4096

// Load is a read of memory by an instruction.
type Load struct {
	Addr  uint64
	Size  int // bytes
	Value uint64
}

// Machine executes functions of one process. What they write lasts until Reset. One goroutine uses
// it at a time.
type Machine struct {
	// Thread is the address of the control block of the thread that the process seems to have.
	Thread uint64
	// ForgetLocks makes the locks of MPICH free, which stores owner and depth after a mutex: the depth
	// stays greater than 0 while the owner waits for messages.
	ForgetLocks bool

	process Process
	pages   map[uint64]*page
	code    *Code
	nowhere bool             // code is of no image
	inst    amd64.Inst       // that is executed
	links   map[uint64]*link // of stubs, by address; nil: the code is no stub
	loads   []Load
	next    uint64 // start of the free memory of the heap
	err     error
	work    int      // instructions that the call may still execute
	until   []string // functions that end the call; see CallUntil
	passed  Passed   // the call that ended it

	reg                                 [amd64.Registers]uint64
	vector                              [16][16]byte
	pc                                  uint64
	carry, zero, sign, overflow, parity bool
}

// New returns a machine for a process.
func New(p Process) *Machine {
	m := &Machine{process: p, code: &Code{}, links: map[uint64]*link{}}
	m.Reset()
	return m
}

// Reset drops the copied memory, so that the next call sees the process as it is then. The code and
// the links of the process must not have changed.
func (m *Machine) Reset() {
	m.pages = map[uint64]*page{}
	m.next = heap
}

// Undo drops what functions have written, and memory of the machine's own. What was only read stays as
// it was when it was copied.
func (m *Machine) Undo() {
	for n, p := range m.pages {
		if p.written {
			delete(m.pages, n)
		}
	}
	m.next = heap
}

// Alloc returns zeroed memory of the machine's own, which lasts until Reset.
func (m *Machine) Alloc(size int) uint64 {
	addr := m.next
	m.next += (uint64(size) + 31) &^ 15
	return addr
}

// own reports whether an address is in the memory that belongs to the machine.
func own(addr uint64) bool {
	return addr >= stackTop-ownRange && addr < stackTop+ownRange || addr >= heap && addr < heap+ownRange
}

// IsOwn reports whether a load was from memory of the machine's own, not of the process.
func (l Load) IsOwn() bool { return own(l.Addr) }

// page is a page of memory.
type page struct {
	bytes   []byte // the process's own until the page is written to
	written bool   // bytes is the machine's own
}

// page returns the page of an address; nil: there is no memory, or there are too many pages.
func (m *Machine) page(addr uint64) *page {
	n := addr / pageSize
	if p := m.pages[n]; p != nil {
		return p
	}
	if len(m.pages) >= maxPages {
		return nil
	}
	p := &page{written: own(addr)}
	if p.written {
		p.bytes = make([]byte, pageSize)
	} else if p.bytes = m.process.Page(n); p.bytes == nil {
		return nil
	}
	m.pages[n] = p
	return p
}

// Read fills b with what the process would see. It returns false if there is no memory.
func (m *Machine) Read(addr uint64, b []byte) bool {
	for len(b) > 0 {
		p := m.page(addr)
		if p == nil {
			return false
		}
		n := copy(b, p.bytes[addr%pageSize:])
		b, addr = b[n:], addr+uint64(n)
	}
	return true
}

// read is Read for an instruction, which fails if there is no memory.
func (m *Machine) read(addr uint64, b []byte) bool {
	ok := m.Read(addr, b)
	if !ok {
		m.fail("no memory at %#x", addr)
	}
	return ok
}

// Uint returns a little-endian number of up to 8 bytes.
func (m *Machine) Uint(addr uint64, size int) (uint64, bool) {
	var b [8]byte
	ok := m.Read(addr, b[:size])
	return binary.LittleEndian.Uint64(b[:]), ok
}

// PutUint writes a little-endian number of up to 8 bytes into the copy.
func (m *Machine) PutUint(addr, v uint64, size int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	m.write(addr, b[:size])
}

// maxText bounds a text, in bytes.
const maxText = 512

// Text returns a text that ends with a zero byte, or is cut after 512 bytes.
func (m *Machine) Text(addr uint64) string {
	var text []byte
	for len(text) < maxText {
		p := m.page(addr)
		if p == nil {
			break
		}
		rest := p.bytes[addr%pageSize:]
		rest = rest[:min(len(rest), maxText-len(text))]
		if end := bytes.IndexByte(rest, 0); end >= 0 {
			return string(append(text, rest[:end]...))
		}
		text, addr = append(text, rest...), addr+uint64(len(rest))
	}
	return string(text)
}

// write writes bytes into the copy.
func (m *Machine) write(addr uint64, b []byte) {
	for len(b) > 0 {
		p := m.page(addr)
		if p == nil {
			m.fail("no memory at %#x", addr)
			return
		}
		if !p.written {
			p.bytes, p.written = bytes.Clone(p.bytes), true
		}
		n := copy(p.bytes[addr%pageSize:], b)
		b, addr = b[n:], addr+uint64(n)
	}
}

// Written returns where functions have written a number of 8 bytes into memory of the process, at multiples of 8,
// ascending.
func (m *Machine) Written(v uint64) (all []uint64) {
	for _, n := range slices.Sorted(maps.Keys(m.pages)) {
		p := m.pages[n]
		if !p.written || own(n*pageSize) {
			continue
		}
		before := m.process.Page(n)
		for i := 0; i < pageSize; i += 8 {
			if binary.LittleEndian.Uint64(p.bytes[i:]) == v && binary.LittleEndian.Uint64(before[i:]) != v {
				all = append(all, n*pageSize+uint64(i))
			}
		}
	}
	return all
}

// load returns a number that an instruction reads, and records the read.
func (m *Machine) load(addr uint64, size int) uint64 {
	var b [8]byte
	if !m.read(addr, b[:size]) {
		return 0
	}
	v := binary.LittleEndian.Uint64(b[:])
	if len(m.loads) < maxLoads {
		m.loads = append(m.loads, Load{addr, size, v})
	}
	return v
}

// fail ends the call; the first reason is kept.
func (m *Machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("at %#x: "+format, append([]any{m.pc}, args...)...)
	}
}

// ErrTooLong says that a call took more than 400,000 instructions or copied as many elements.
var ErrTooLong = errors.New("too many instructions")

// errReached ends a call at a function of another image.
var errReached = errors.New("reached")

// ErrNotReached says that a function has returned without a call of the functions that were to end it.
var ErrNotReached = errors.New("none of the functions was called")

// Passed is a call of a function of another image: its name and its first six integer arguments.
type Passed struct {
	Name string
	Args [6]uint64
}

// CallUntil executes a function of up to six integer arguments until it calls one of the named functions
// of other images, which is not executed. What was written until then is not complete: Undo should
// follow. If the function returns before, the error is ErrNotReached.
func (m *Machine) CallUntil(names []string, function uint64, args ...uint64) (Passed, error) {
	m.until = names
	defer func() { m.until = nil }()
	switch _, _, err := m.Call(function, args...); err {
	case nil:
		return Passed{}, ErrNotReached
	case errReached:
		return m.passed, nil
	default:
		return Passed{}, err
	}
}

// Call executes a function of up to six integer arguments and returns its result. loads are its
// reads of memory, in order, at most 4,096; they are valid until the next call.
func (m *Machine) Call(function uint64, args ...uint64) (result uint64, loads []Load, err error) {
	m.err, m.loads = nil, m.loads[:0]
	m.reg = [amd64.Registers]uint64{amd64.RSP: stackTop - ownRange/2}
	for n, v := range args {
		m.reg[amd64.Arguments[n]] = v
	}
	m.push(returned)
	m.pc = function
	for m.work = maxWork; m.work > 0; m.work-- {
		if m.err != nil {
			return 0, m.loads, m.err
		}
		if m.pc == returned {
			return m.reg[amd64.RAX], m.loads, nil
		}
		if i := m.fetch(); i != nil {
			m.pc = i.Next()
			m.execute(i)
		}
	}
	return 0, m.loads, ErrTooLong
}

// fetch returns the instruction that is executed next.
func (m *Machine) fetch() *amd64.Inst {
	if m.pc-m.code.First >= m.code.End-m.code.First {
		m.code = m.process.Code(m.pc)
		if m.nowhere = m.code == nil; m.nowhere {
			page := m.pc - m.pc%pageSize // of memory that is not asked for again
			m.code = &Code{First: page, End: page + pageSize, Instructions: map[uint64]*amd64.Inst{}}
		}
	}
	i := m.code.Instructions[m.pc-m.code.Bias]
	if i == nil {
		if i = amd64.At(m, m.pc); i == nil {
			m.fail("no known instruction")
			return nil
		}
		if len(m.code.Instructions) >= maxCode {
			clear(m.code.Instructions)
		}
		written := m.wrote(m.pc) || m.wrote(i.Next()-1)
		if !written { // other processes do not have what the machine has written
			m.code.Instructions[m.pc-m.code.Bias] = i
		}
		if written || m.nowhere {
			m.work -= decoding
		}
	}
	m.inst = *i
	m.inst.Addr = m.pc
	return &m.inst
}

// wrote reports whether the machine has written to the page of an address.
func (m *Machine) wrote(addr uint64) bool {
	p := m.pages[addr/pageSize]
	return p != nil && p.written
}

func (m *Machine) push(v uint64) {
	m.reg[amd64.RSP] -= 8
	m.PutUint(m.reg[amd64.RSP], v, 8)
}

func (m *Machine) pop() uint64 {
	v := m.load(m.reg[amd64.RSP], 8)
	m.reg[amd64.RSP] += 8
	return v
}
