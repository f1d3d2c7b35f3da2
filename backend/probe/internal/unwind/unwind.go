// Package unwind provides the stacks of threads from their registers and memory. It is pure.
package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"

	"sdm/backend/probe/internal/cfi"
)

// maxFrames bounds a stack. An endless recursion has about 100,000 frames when it reaches the end of an
// ordinary stack, and a Python call has five before 3.11.
const maxFrames = 200_000

// Code is the executable memory of a process.
type Code interface {
	// Find returns the unwind tables of the image at an address, and its bias, which is to be subtracted
	// from addresses for them. tables is nil if the address is in no image; name is the name of the image.
	Find(pc uint64) (tables Tables, bias uint64, name string)
	// Executable reports whether an address is in executable memory.
	Executable(pc uint64) bool
	// Function returns the first address of the function that contains an address, by symbols; ok is false
	// if none is known. Function and Derived are called only for code without tables.
	Function(pc uint64) (entry uint64, ok bool)
	// Derived returns the row for an address of the function that begins at entry, or of one to which that
	// jumps in place of a call, as derived from the instructions, and the bias of the image; nil: nothing is
	// certain.
	Derived(entry, pc uint64) (row *cfi.Row, bias uint64)
}

// Tables are the unwind tables of an image.
type Tables interface {
	// Find returns the row for an address; cfi.ErrNone if there is none.
	Find(pc uint64) (*cfi.Row, error)
}

// How says how the caller of a frame was found.
type How uint8

// Ways to find callers. From ByPointer on, frames may be missing between a frame and its caller.
const (
	ByTables  How = iota // by unwind tables
	ByCode               // derived from the instructions, and checked
	ByPointer            // the frame pointer leads to a return address that a call precedes
	BySearch             // the stack was searched for such a return address, which leads to the end of the stack
)

// Frame is one level of a stack.
type Frame struct {
	PC uint64
	SP uint64 // stack pointer
	// CFA is the canonical frame address: the stack pointer of the caller. The memory of the frame
	// is from SP to CFA. 0: the caller is not known.
	CFA uint64
	// First and End bound the entry of the tables: the function, or a part of it that the compiler has
	// moved away. 0: there is no entry.
	First, End uint64
	// Exact: PC is the address of an instruction that was to be executed. Otherwise it is a return
	// address, and the call is before it.
	Exact bool
	// Signal: the frame was made by the delivery of a signal.
	Signal bool
	// How the caller was found, if there is one.
	How How
}

// Lookup returns an address within the instruction of the frame.
func (f Frame) Lookup() uint64 {
	if f.Exact {
		return f.PC
	}
	return f.PC - 1
}

// Stack is the stack of a thread, innermost frame first.
type Stack struct {
	Frames []Frame
	Cut    string // why the stack ends before the outermost frame; "": it is whole
}

// Walker follows stacks of one process.
type Walker struct {
	Machine Machine
	Code    Code
	Memory  cfi.Memory
	// SignMask has the bits of an address that hold its authentication code (arm64).
	SignMask uint64
}

// Walk returns the stack of a thread with these registers.
func (w *Walker) Walk(regs cfi.Registers) Stack {
	s, _ := w.new().walk(regs, maxFrames)
	return s
}

// RegistersAt returns the registers of frame i of a stack that begins with these registers. None
// is known if there is no such frame.
func (w *Walker) RegistersAt(regs cfi.Registers, i int) cfi.Registers {
	if s, last := w.new().walk(regs, i+1); i >= 0 && len(s.Frames) == i+1 {
		return last
	}
	return cfi.Registers{}
}

// walk is the state of following one stack.
type walk struct {
	*Walker
	searches int  // that may still be made
	inner    bool // it only tests whether a candidate leads to the end of the stack
}

// maxSearches bounds the frames of a stack whose callers are searched for.
const maxSearches = 16

func (w *Walker) new() *walk { return &walk{Walker: w, searches: maxSearches} }

// walk follows a stack for at most a number of frames, and returns the registers of the last of them.
func (w *walk) walk(regs cfi.Registers, most int) (s Stack, last cfi.Registers) {
	exact := !w.inner
	for len(s.Frames) < most {
		f, caller, err := w.step(&regs, exact)
		if f.PC != 0 || exact {
			s.Frames, last = append(s.Frames, f), regs
		}
		if errors.Is(err, cfi.ErrEnd) {
			return s, last
		}
		if err != nil {
			s.Cut = err.Error()
			return s, last
		}
		regs, exact = caller, f.Signal
	}
	s.Cut = fmt.Sprintf("more than %d frames", maxFrames)
	return s, last
}

// errNotAbove is the error for a caller whose frame is not at a higher address: following it might not end.
var errNotAbove = errors.New("caller's frame is not above")

// step returns the frame of registers and the registers of its caller. A return address of 0 ends
// the stack: there is no frame.
func (w *walk) step(regs *cfi.Registers, exact bool) (f Frame, caller cfi.Registers, err error) {
	pc, ok := regs.Get(w.Machine.PC)
	switch {
	case !ok:
		return f, caller, errors.New("return address unknown")
	case pc == 0 && !exact:
		return f, caller, cfi.ErrEnd
	}
	f = Frame{PC: pc, Exact: exact}
	f.SP, _ = regs.Get(w.Machine.SP)
	row, bias, name := w.row(f)
	if row == nil && !exact && !w.Code.Executable(pc-1) && !w.Code.Executable(pc) {
		return Frame{}, caller, errors.New("return address is no code")
	}
	if row == nil {
		caller, err = w.without(&f, regs, name)
	} else {
		f.Signal, f.First, f.End = row.Signal(), row.First()+bias, row.End()+bias
		caller, _, err = row.Caller(regs, w.Memory, w.Machine.SP, w.Machine.PC)
		if to, ok := caller.Get(w.Machine.PC); ok && err == nil && w.Machine.Link != 0 {
			caller.Set(w.Machine.PC, to&^w.SignMask)
		}
	}
	if err == nil && !f.Signal && !w.rises(regs, &caller, exact) {
		err = errNotAbove
	}
	if err == nil {
		f.CFA, _ = caller.Get(w.Machine.SP)
	}
	return f, caller, err
}

// rises reports whether the stack pointer of the caller is higher. It may be equal for a function that is not
// in a call, such as the innermost one: it may have no frame and its return address in a register (arm64;
// vfork).
func (w *Walker) rises(regs, caller *cfi.Registers, exact bool) bool {
	sp, _ := regs.Get(w.Machine.SP)
	above, _ := caller.Get(w.Machine.SP)
	return above > sp || exact && above == sp
}

// row returns the row of the tables for a frame; nil: there is none. If there is none for the call before a
// return address, the return address itself is tried if an entry begins there: it may be the first
// instruction of a new context, which was not called.
func (w *Walker) row(f Frame) (row *cfi.Row, bias uint64, name string) {
	table, bias, name := w.Code.Find(f.Lookup())
	if table == nil {
		return nil, bias, name
	}
	if row, err := table.Find(f.Lookup() - bias); err == nil {
		return row, bias, name
	}
	if row, err := table.Find(f.PC - bias); err == nil && row.First() == f.PC-bias {
		return row, bias, name
	}
	return nil, bias, name
}

func (w *Walker) load(at uint64) (uint64, bool) {
	var b [8]byte
	ok := w.Memory.Read(at, b[:])
	return binary.LittleEndian.Uint64(b[:]), ok
}
