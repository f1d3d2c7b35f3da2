// Blocks of a function, and jumps through tables.

package dataflow

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

const (
	// maxInstructions bounds a function. Those of MPI libraries have up to some thousands.
	maxInstructions = 60_000
	// decodings is the number of instructions whose decoding takes as long as the execution of one.
	decodings = 8
	// maxCold bounds a part of a function that the compiler has moved away, in bytes.
	maxCold = 64 << 10
)

// extent is a range of addresses of the function.
type extent struct{ first, end uint64 }

// inside reports whether an address is in the function.
func (a *analysis) inside(addr uint64) bool {
	for _, e := range a.extents {
		if addr >= e.first && addr < e.end {
			return true
		}
	}
	return false
}

// at returns the instruction at an address; nil: there is none.
func (a *analysis) at(addr uint64) *amd64.Inst {
	if i, ok := a.code[addr]; ok {
		return i
	}
	i := amd64.At(a.image, addr)
	a.code[addr] = i
	return i
}

// cold reports whether an address is in a part of the function that the compiler has moved away and that jumps
// back, and adds that part to the extents.
func (a *analysis) cold(addr uint64) bool {
	first, end, ok := a.image.Function(addr)
	if !ok || end-first > maxCold || !a.mayJumpBack(first, end) {
		return false
	}
	for at := first; at < end; {
		i := a.at(at)
		if i == nil {
			return false
		}
		_, branch := i.Branch()
		if to, ok := i.Target(); ok && (branch || i.Op == x86asm.JMP) && to != a.first && a.inside(to) {
			a.extents = append(a.extents, extent{first, end})
			return true
		}
		at = i.Next()
	}
	return false
}

// mayJumpBack reports whether a range of addresses may contain a jump into the function: some of its bytes are one,
// if an instruction begins there. That takes less time than decoding the instructions.
func (a *analysis) mayJumpBack(first, end uint64) bool {
	const near = 130 // bytes between a jump by a byte and its target, at most
	for _, e := range a.extents {
		if first < e.end+near && e.first < end+near {
			return true
		}
	}
	b := make([]byte, end-first)
	if !a.image.Read(first, b) {
		return true
	}
	for i := 0; i+5 <= len(b); i++ { // JMP and Jcc have a distance of 4 bytes at their end
		if b[i] == 0xe9 || b[i]&0xf0 == 0x80 && i > 0 && b[i-1] == 0x0f {
			next := first + uint64(i) + 5
			if to := next + uint64(int64(int32(binary.LittleEndian.Uint32(b[i+1:])))); to != a.first && a.inside(to) {
				return true
			}
		}
	}
	return false
}

// ends reports whether an instruction ends a block, and returns the addresses within the function that follow
// it.
func (a *analysis) ends(i *amd64.Inst) (to []uint64, ends bool) {
	within := func(addr uint64) {
		if a.inside(addr) || a.cold(addr) {
			to = append(to, addr)
		}
	}
	target, direct := i.Target()
	_, branch := i.Branch()
	switch {
	case branch:
		to = append(to, i.Next())
		if direct {
			within(target)
		}
	case i.Op == x86asm.JMP && direct:
		within(target)
	case i.Op == x86asm.JMP:
		for _, addr := range a.jumps[i.Addr] {
			within(addr)
		}
	case i.Op != x86asm.RET && i.Op != x86asm.UD2 && i.Op != x86asm.HLT:
		return nil, false
	}
	return to, true
}

// block is a sequence of instructions that is entered at its first only.
type block struct {
	code []*amd64.Inst
	to   []uint64 // first addresses of the blocks that follow
}

// flow finds all blocks of the function that can be reached from its entry.
func (a *analysis) flow() error {
	if err := a.reach(nil); err != nil || !a.partial {
		return err
	}
	if endless := a.findEndless(); len(endless) > 0 {
		return a.reach(endless)
	}
	return nil
}

// reach finds the blocks that can be reached from the entry if the calls at some addresses do not return. An unknown
// instruction is an error, since ways would be missing, except directly after a call: that may not return either.
func (a *analysis) reach(endless map[uint64]bool) error {
	leaders, seen := map[uint64]bool{a.first: true}, map[uint64]bool{}
	ends := map[uint64][]uint64{}
	for work := []uint64{a.first}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		afterCall := false
	ways:
		for !seen[at] && a.inside(at) {
			seen[at] = true
			i := a.at(at)
			switch {
			case i == nil && (afterCall || a.partial):
				a.unknownCode = a.unknownCode || !afterCall
				break ways
			case i == nil:
				return ErrUnknown
			case len(seen) > maxInstructions:
				return ErrTooLong
			}
			to, isEnd := a.ends(i)
			if isEnd || endless[at] {
				ends[at] = to
				for _, addr := range to {
					leaders[addr] = true
				}
				work = append(work, to...)
				break
			}
			at, afterCall = i.Next(), i.Op == x86asm.CALL
		}
	}
	*a.left -= len(seen) / decodings
	a.blocks = make(map[uint64]*block, len(leaders))
	for first := range leaders {
		a.blocks[first] = a.blockFrom(first, leaders, seen, ends)
	}
	return nil
}

// blockFrom returns the block that begins at an address.
func (a *analysis) blockFrom(first uint64, leaders, seen map[uint64]bool, ends map[uint64][]uint64) *block {
	b := &block{}
	for at := first; seen[at] && a.code[at] != nil; {
		i := a.code[at]
		b.code = append(b.code, i)
		if to, ok := ends[at]; ok {
			b.to = to
			return b
		}
		if at = i.Next(); leaders[at] {
			b.to = []uint64{at}
			return b
		}
	}
	return b
}

// table is a table of offsets or addresses through which a function jumps.
type table struct {
	start uint64 // address of the file
	from  uint64 // elements of 4 bytes are relative to it
	size  uint64 // bytes of an element
}

// table returns the table of an indirect jump; ok is false if there is none.
func (a *analysis) table(s *State, i *amd64.Inst) (t table, ok bool) {
	base, from, size := a.tableOf(s, i)
	for base != nil && base.Kind == Sum && base.B != nil {
		switch {
		case base.A.Kind == Address, base.A.Kind == Constant:
			base = base.A
		case base.B.Kind == Address:
			base = base.B
		default:
			return t, false
		}
	}
	switch {
	case base == nil:
		return t, false
	case base.Kind == Address:
		t = table{start: uint64(base.N), size: size}
	case base.Kind != Constant || base.N < 4096 || size == 4:
		return t, false
	default: // an address of the process
		t = table{start: uint64(base.N) - a.image.Bias(), size: size}
	}
	if from != nil {
		t.from = uint64(from.N)
	}
	return t, true
}

// tableOf returns the address of an element of a jump table, the address to which its elements are relative
// (for elements of 4 bytes), and their size.
func (a *analysis) tableOf(s *State, i *amd64.Inst) (element, from *Value, size uint64) {
	m, ok := i.Args[0].(x86asm.Mem)
	if ok {
		return a.effective(s, i, m), nil, 8
	}
	n, _, ok := amd64.GeneralArg(i.Args[0])
	if !ok {
		return nil, nil, 0
	}
	v := s.Registers[n]
	switch {
	case v.Kind == Sum && v.B != nil && v.N == 1:
		from, offset := v.A, v.B.Core()
		if from.Kind != Address {
			from, offset = v.B, v.A.Core()
		}
		if from.Kind == Address && offset.Kind == Load && offset.N == 4 {
			return offset.A, from, 4
		}
	case v.Kind == Load && v.N == 8:
		return v.A, nil, 8
	}
	return nil, nil, 0
}

// maxTargets bounds a jump table.
const maxTargets = 1024

// targets reads a jump table until an element does not lead into the function, or another table begins.
func (a *analysis) targets(t table) []uint64 {
	seen := map[uint64]bool{}
	var all []uint64
	others := map[uint64]bool{}
	for _, other := range a.tables {
		others[other.start] = other.start != t.start
	}
	for n := range uint64(maxTargets) {
		at := t.start + n*t.size
		v, ok := readUint(a.image, at, int(t.size))
		if !ok || others[at] {
			break
		}
		to := v - a.image.Bias()
		if t.size == 4 {
			to = t.from + uint64(int64(int32(v)))
		}
		if !a.inside(to) && !a.cold(to) {
			break
		}
		if !seen[to] {
			seen[to] = true
			all = append(all, to)
		}
	}
	return all
}
