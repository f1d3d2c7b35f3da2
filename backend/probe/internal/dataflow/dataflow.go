// Package dataflow provides the contents of registers and stack slots of a function of x86-64 at one of its
// instructions, as expressions of the values at its entry. It is pure. The instructions are executed with
// symbolic values (Value) on all paths from the entry. A result depends on the code only, so that all
// processes share it.
//
// A path is called a way here. A value that differs between ways that meet becomes an unknown value.
package dataflow

import (
	"encoding/binary"
	"errors"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// Image is the code of an image, by the addresses of its file.
type Image interface {
	// Read fills b from an address. It returns false if not all of b can be read.
	Read(addr uint64, b []byte) bool
	// Function returns the range of the function around an address, as the unwind tables know it.
	Function(addr uint64) (first, end uint64, ok bool)
	// Bias is the address of the image in the process minus that in its file.
	Bias() uint64
}

// Reasons why nothing is known about a call.
var (
	ErrNoTable  = errors.New("no unwind tables")
	ErrTooLong  = errors.New("function is too long")
	ErrJump     = errors.New("a jump is not understood")
	ErrUnknown  = errors.New("an instruction is not known")
	ErrNotThere = errors.New("the call cannot be reached from the entry")
)

// Site is a call of a function, or another instruction of it. It is immutable.
type Site struct {
	First  uint64 // address of the function in its file
	Inst   *amd64.Inst
	Before State  // before the instruction
	Target *Value // what a call calls; nil: not known

	passesOnStack bool // see PassesOnStack
	escaped       escapes
	values        pool
}

// Entry returns the value that a register had at entry.
func (s *Site) Entry(reg int) *Value { return s.values.known(Value{Kind: Entry, N: int64(reg)}) }

// Argument returns the n-th argument (from 0) as it was at entry.
func (s *Site) Argument(n int) *Value {
	if n < len(amd64.Arguments) {
		return s.Entry(amd64.Arguments[n])
	}
	return s.values.known(Value{Kind: Argument, N: int64(8 * (n - len(amd64.Arguments)))})
}

// known returns the pointer of a value in the pool. If the pool does not have it, no register or slot holds it,
// and known returns a new pointer.
func (p pool) known(v Value) *Value {
	if known := p[v]; known != nil {
		return known
	}
	return &v
}

// Escaped reports whether the address of a slot, or of one below it, was taken, so that other functions may
// have written to it.
func (s *Site) Escaped(slot Slot, size int64) bool { return s.escaped.has(slot, size) }

// PassesOnStack reports whether the call may have arguments on the stack. The first of them is where the stack pointer
// is. So there are none if no instruction of the function, on any path, has written there (System V ABI, 3.2.3).
func (s *Site) PassesOnStack() bool { return s.passesOnStack }

// Passed returns the value of argument n (from 0) that the function passes to its callee; nil: not known. With
// onStack, the argument is in a slot.
func (s *Site) Passed(n int) (v *Value, slot Slot, onStack bool) {
	if n < len(amd64.Arguments) {
		return s.Before.Registers[amd64.Arguments[n]], Slot{}, false
	}
	sp, ok := SlotOf(s.Before.Registers[amd64.RSP])
	if !ok {
		return nil, Slot{}, true
	}
	slot = Slot{sp.Base, sp.Offset + int64(8*(n-len(amd64.Arguments)))}
	return s.Before.Slots[slot].Value, slot, true
}

// analysis is the analysis of one function.
type analysis struct {
	pool
	image       Image
	first       uint64
	extents     []extent
	code        map[uint64]*amd64.Inst
	blocks      map[uint64]*block
	jumps       map[uint64][]uint64 // targets of indirect jumps, by address; none: not understood
	tables      map[uint64]table    // of those jumps
	leaves      map[uint64]bool     // indirect jumps that leave the function (tail calls)
	escaped     escapes
	written     map[Slot]bool // words of the stack, of 8 bytes, that an instruction writes
	left        *int          // instructions that may still be executed
	partial     bool          // ways that are not understood are left out
	unknownCode bool          // there was an instruction that is not known

	// Of one round.
	in    map[uint64]*State // at the beginning of each block that is reached
	joins map[place]bool    // where different values have met
	again bool              // something was found that makes the results of this round invalid
}

const (
	// maxRounds bounds the rounds. Each but the last finds an address that is taken, or a jump table.
	maxRounds = 12
	// maxSteps bounds the instructions that At executes, in all rounds.
	maxSteps = 2_000_000
)

// At returns what is known before the call that ends at addr; with exact, before the instruction at
// addr.
func At(image Image, addr uint64, exact bool) (*Site, error) {
	lookup := addr
	if !exact {
		lookup--
	}
	left := maxSteps
	a, err := analyse(image, lookup, false, &left)
	if err != nil {
		return nil, err
	}
	return a.site(addr, exact)
}

// Each calls visit for each instruction of the function around addr that can be reached from its entry,
// in no order, with the state before it, which visit must not keep. A way ends at an instruction or jump that
// is not understood, so that states after it may lack values of that way. Each executes at most *left
// instructions, and subtracts their number from *left; kernels of linear algebra need up to 31,000. whole is
// true if all ways were understood.
func Each(image Image, addr uint64, left *int, visit func(i *amd64.Inst, before *State)) (whole bool, err error) {
	a, err := analyse(image, addr, true, left)
	if err != nil {
		return false, err
	}
	for first, b := range a.blocks {
		if a.in[first] == nil {
			continue
		}
		s := a.in[first].clone()
		for _, i := range b.code {
			visit(i, s)
			a.step(s, i)
		}
	}
	return a.understood() == nil && !a.unknownCode, nil
}

// analyse follows all ways through the function around addr; with partial, those that are understood.
func analyse(image Image, addr uint64, partial bool, left *int) (*analysis, error) {
	first, end, ok := image.Function(addr)
	if !ok {
		return nil, ErrNoTable
	}
	a := &analysis{
		pool: pool{}, image: image, first: first, extents: []extent{{first, end}}, code: map[uint64]*amd64.Inst{},
		jumps: map[uint64][]uint64{}, tables: map[uint64]table{}, leaves: map[uint64]bool{}, escaped: escapes{}, written: map[Slot]bool{}, left: left, partial: partial,
	}
	for range maxRounds {
		if err := a.flow(); err != nil {
			return nil, err
		}
		if done, err := a.round(); err != nil {
			return nil, err
		} else if done && partial {
			return a, nil
		} else if done {
			return a, a.understood()
		}
	}
	return nil, ErrTooLong
}

// understood returns an error if there is an indirect jump whose targets are not known.
func (a *analysis) understood() error {
	for at, to := range a.jumps {
		if len(to) == 0 && !a.leaves[at] {
			return ErrJump
		}
	}
	return nil
}

// round executes the blocks until nothing changes. It returns whether nothing was found that needs
// another round.
func (a *analysis) round() (done bool, err error) {
	a.again = false
	a.joins = map[place]bool{}
	a.in = map[uint64]*State{a.first: a.entryState()}
	waiting := map[uint64]bool{a.first: true}
	for len(waiting) > 0 {
		next := ^uint64(0) // the lowest address first, which is close to the order of execution
		for at := range waiting {
			next = min(next, at)
		}
		delete(waiting, next)
		s := a.in[next].clone()
		b := a.blocks[next]
		if *a.left -= len(b.code); *a.left < 0 {
			return false, ErrTooLong
		}
		for _, i := range b.code {
			a.follow(s, i)
			a.step(s, i)
		}
		for _, to := range b.to {
			if a.blocks[to] != nil && a.join(to, s) {
				waiting[to] = true
			}
		}
	}
	return !a.again, nil
}

// follow determines the targets of an indirect jump.
func (a *analysis) follow(s *State, i *amd64.Inst) {
	if _, direct := i.Target(); i.Op != x86asm.JMP || direct || len(a.jumps[i.Addr]) > 0 {
		return
	}
	m, _ := i.Args[0].(x86asm.Mem)
	slot, ok := SlotOf(s.Registers[amd64.RSP])
	a.leaves[i.Addr] = ok && slot == (Slot{nil, -8}) && m.Index == 0 // a tail call
	a.jumps[i.Addr] = nil
	if t, ok := a.table(s, i); ok && len(a.targets(t)) > 0 {
		a.tables[i.Addr] = t
		for at, t := range a.tables { // one of the others may end where the new one begins
			a.jumps[at] = a.targets(t)
		}
		a.again = true
	}
}

// site returns the result for an instruction after the last round.
func (a *analysis) site(addr uint64, exact bool) (*Site, error) {
	for first, b := range a.blocks {
		for n, i := range b.code {
			if !(exact && i.Addr == addr || !exact && i.Next() == addr && i.Op == x86asm.CALL) {
				continue
			}
			if a.in[first] == nil {
				return nil, ErrNotThere
			}
			s := a.in[first].clone()
			for _, before := range b.code[:n] {
				a.step(s, before)
			}
			site := &Site{First: a.first, Inst: i, Before: *s, escaped: a.escaped, values: a.ofEntry()}
			if i.Op == x86asm.CALL {
				site.Target = a.called(s, i)
				sp, ok := SlotOf(s.Registers[amd64.RSP])
				site.passesOnStack = !ok || a.written[sp] || a.escaped.has(sp, 8)
			}
			return site, nil
		}
	}
	return nil, ErrNotThere
}

// called returns the address that an instruction calls; nil: not known.
func (a *analysis) called(s *State, i *amd64.Inst) *Value {
	if to, ok := i.Target(); ok {
		return a.address(to)
	}
	if m, ok := i.Args[0].(x86asm.Mem); ok {
		if addr := a.effective(s, i, m); addr != nil {
			return a.get(Value{Kind: Load, A: addr, N: 8, from: origin{loaded, i.Addr, 0}})
		}
		return nil
	}
	if n, _, ok := amd64.GeneralArg(i.Args[0]); ok {
		return s.Registers[n]
	}
	return nil
}

// readUint returns a number of up to 8 bytes.
func readUint(image Image, addr uint64, size int) (uint64, bool) {
	var b [8]byte
	ok := image.Read(addr, b[:size])
	return binary.LittleEndian.Uint64(b[:]), ok
}
