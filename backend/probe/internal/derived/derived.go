// Package derived provides call frame information of functions of x86-64 that have no unwind tables, such
// as kernels in assembler. It is pure. The instructions of a function are followed on all ways from its
// entry (package dataflow), which gives the places of the registers of its caller before each of them.
package derived

import (
	"cmp"
	"slices"
	"sort"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/dataflow"
)

// returnAddress is the DWARF number of the return address (System V ABI, figure 3.36).
const returnAddress = 16

// Function is what was derived of one function. It is immutable.
type Function struct {
	First uint64 // address of the function
	// Whole: all ways through the function were understood.
	Whole bool
	// Tails are where the function jumps when its frame is gone: other functions, which then return to its caller. They
	// ascend.
	Tails []uint64
	spans []span // ascending
}

// span is a range of addresses with the same row; nil: it is not known.
type span struct {
	first, end uint64
	row        *cfi.Row
}

// Of returns what can be derived of the function around an address. Ways through it that are not understood
// are left out. *left is the number of instructions that may be executed; Of subtracts those that it executes.
func Of(image dataflow.Image, addr uint64, left *int) (*Function, error) {
	first, end, ok := image.Function(addr)
	if !ok {
		return nil, dataflow.ErrNoTable
	}
	f := &Function{First: first}
	rows := map[key]*cfi.Row{}
	whole, err := dataflow.Each(image, addr, left, func(i *amd64.Inst, before *dataflow.State) {
		k := keyOf(before)
		row, known := rows[k]
		if !known {
			row = k.row(first, end)
			rows[k] = row
		}
		f.spans = append(f.spans, span{i.Addr, i.Next(), row})
		_, branch := i.Branch()
		if to, direct := i.Target(); direct && (branch || i.Op == x86asm.JMP) && k == atEntry {
			f.Tails = append(f.Tails, to)
		}
	})
	if err != nil {
		return nil, err
	}
	f.Whole = whole
	f.join()
	slices.Sort(f.Tails)
	f.Tails = slices.DeleteFunc(slices.Compact(f.Tails), f.Reaches)
	return f, nil
}

// join sorts the spans and joins adjacent ones with the same row.
func (f *Function) join() {
	slices.SortFunc(f.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	n := 0
	for _, s := range f.spans {
		if n > 0 && f.spans[n-1].end == s.first && f.spans[n-1].row == s.row {
			f.spans[n-1].end = s.end
			continue
		}
		f.spans[n] = s
		n++
	}
	f.spans = slices.Clip(slices.Clone(f.spans[:n]))
}

// Row returns the row of the instruction at or around an address; nil: it cannot be reached from the
// entry, or its frame is not known.
func (f *Function) Row(addr uint64) *cfi.Row {
	if i := f.span(addr); i >= 0 {
		return f.spans[i].row
	}
	return nil
}

// Reaches reports whether the instruction at or around an address can be reached from the entry.
func (f *Function) Reaches(addr uint64) bool { return f.span(addr) >= 0 }

// span returns the number of the span of an address; -1: there is none.
func (f *Function) span(addr uint64) int {
	i := sort.Search(len(f.spans), func(i int) bool { return f.spans[i].end > addr })
	if i == len(f.spans) || addr < f.spans[i].first {
		return -1
	}
	return i
}

// savedRegisters are those that a function must preserve, by the numbers of package amd64.
var savedRegisters = [...]int{amd64.RBX, amd64.RBP, amd64.R12, amd64.R13, amd64.R14, amd64.R15}

// key has the places of the canonical frame address and of the registers of the caller before an instruction.
type key struct {
	frame cfi.Place
	saved [len(savedRegisters)]cfi.Place
}

// unchanged is the place of a register that holds its caller's value.
var unchanged = cfi.Place{}

// atEntry is the key before the first instruction of a function, and before it jumps to another one in place of a call.
var atEntry = key{frame: cfi.Place{Register: amd64.DWARF(amd64.RSP), Offset: 8}}

// keyOf returns the key of a state.
func keyOf(s *dataflow.State) key {
	k := key{frame: frameOf(s)}
	for n, r := range savedRegisters {
		k.saved[n] = savedPlace(s, r)
	}
	return k
}

func (k key) row(first, end uint64) *cfi.Row {
	if k.frame.Register == cfi.Lost {
		return nil
	}
	saved := map[uint64]cfi.Place{}
	for n, r := range savedRegisters {
		if k.saved[n] != unchanged {
			saved[amd64.DWARF(r)] = k.saved[n]
		}
	}
	return cfi.NewRow(first, end, k.frame, saved, returnAddress)
}

// frameOf returns the place of the canonical frame address: relative to the stack pointer or to a register that
// functions preserve, or in a slot relative to an aligned stack pointer.
func frameOf(s *dataflow.State) cfi.Place {
	for _, r := range anchors {
		if v := s.Registers[r]; v.Kind == dataflow.Frame {
			return cfi.Place{Register: amd64.DWARF(r), Offset: -v.N}
		}
	}
	best := cfi.Place{Register: cfi.Lost}
	for slot, v := range s.Slots {
		if v.Size != 8 || v.Value.Kind != dataflow.Frame {
			continue
		}
		if p := beside(s, slot); p.Register != cfi.Lost && (best.Register == cfi.Lost || before(p, best)) {
			best = p
			best.Add = -v.Value.N
		}
	}
	return best
}

// anchors are the registers to which slots may be relative, the preferred ones first.
var anchors = append([]int{amd64.RSP}, savedRegisters[:]...)

// beside returns the place of a slot with a base, relative to a register that points to a slot with the same
// base.
func beside(s *dataflow.State, slot dataflow.Slot) cfi.Place {
	for _, r := range anchors {
		at, ok := dataflow.SlotOf(s.Registers[r])
		if ok && slot.Base != nil && at.Base == slot.Base && (r != amd64.RSP || slot.Offset >= at.Offset) {
			return cfi.Place{Register: amd64.DWARF(r), Offset: slot.Offset - at.Offset, Stored: true}
		}
	}
	return cfi.Place{Register: cfi.Lost}
}

// before reports whether place a is preferred to b. With equal registers the higher one is, since values saved
// at entry are above variables.
func before(a, b cfi.Place) bool {
	return cmp.Or(cmp.Compare(a.Register, b.Register), cmp.Compare(b.Offset, a.Offset)) < 0
}

// savedPlace returns where the caller's value of a register is.
func savedPlace(s *dataflow.State, r int) cfi.Place {
	is := func(v *dataflow.Value) bool { return v != nil && v.Kind == dataflow.Entry && v.N == int64(r) }
	if is(s.Registers[r]) {
		return unchanged
	}
	best := cfi.Place{Register: cfi.Lost}
	for slot, v := range s.Slots {
		if !is(v.Value) || v.Size != 8 {
			continue
		}
		p := cfi.Place{Register: cfi.CFA, Offset: slot.Offset, Stored: true}
		if slot.Base != nil {
			p = beside(s, slot)
		}
		if p.Register != cfi.Lost && (best.Register == cfi.Lost || before(p, best)) {
			best = p
		}
	}
	for _, other := range savedRegisters {
		if best.Register == cfi.Lost && is(s.Registers[other]) {
			best = cfi.Place{Register: amd64.DWARF(other)}
		}
	}
	return best
}
