// Registers and stack slots before an instruction.

package dataflow

import (
	"maps"

	"sdm/backend/probe/internal/amd64"
)

// Slot is a place on the stack: an offset from the canonical frame address, or from the value that the stack
// pointer had after it was aligned.
type Slot struct {
	Base   *Value // nil: the canonical frame address
	Offset int64  // bytes
}

// Stored is what a slot holds.
type Stored struct {
	Value *Value
	Size  int64 // bytes
}

// State is where values are before an instruction.
type State struct {
	Registers [amd64.Registers]*Value
	Slots     map[Slot]Stored
	vectors   [16][2]*Value // halves of vector registers; nil: not known
}

func (s *State) clone() *State {
	c := *s
	c.Slots = maps.Clone(s.Slots)
	return &c
}

// entryState returns the state at the entry of a function.
func (a *analysis) entryState() *State {
	s := &State{Slots: map[Slot]Stored{}}
	for n := range s.Registers {
		s.Registers[n] = a.entry(n)
	}
	s.Registers[amd64.RSP] = a.frame(-8)
	return s
}

// SlotOf returns the slot at an address; ok is false if it is not on the stack of the function.
func SlotOf(addr *Value) (s Slot, ok bool) {
	switch {
	case addr == nil:
		return s, false
	case addr.Kind == Frame:
		return Slot{nil, addr.N}, true
	case addr.Kind == Unknown && addr.from.how == aligned:
		return Slot{addr, 0}, true
	case addr.Kind == Sum && addr.B == nil && addr.A.Kind == Unknown && addr.A.from.how == aligned:
		return Slot{addr.A, addr.N}, true
	}
	return s, false
}

// fresh returns the unknown value that an instruction writes to a place. In a loop the instruction has written
// an equal value before; where that is still held, it is renamed.
func (a *analysis) fresh(s *State, at uint64, place int) *Value {
	v := a.unknown(origin{written, at, uint64(place)}, nil, 0)
	a.rename(s, v)
	return v
}

// rename replaces values that are computed from v by values that differ from v.
func (a *analysis) rename(s *State, v *Value) {
	for n, old := range s.Registers {
		if old.mentions(v) {
			s.Registers[n] = a.unknown(origin{how: renamed, place: uint64(n)}, v, 0)
		}
		for k, half := range s.vectors[n] {
			if half.mentions(v) {
				s.vectors[n][k] = nil
			}
		}
	}
	for slot, old := range s.Slots {
		if old.Value.mentions(v) {
			old.Value = a.get(Value{Kind: Unknown, A: v, B: slot.Base, N: slot.Offset, from: origin{how: renamed, place: inSlot}})
			s.Slots[slot] = old
		}
	}
}

// inSlot is the place of origins in slots: numbers below it are registers.
const inSlot = amd64.Registers

// load returns what an instruction reads from memory; addr is nil if the address is not known.
func (a *analysis) load(s *State, at uint64, addr *Value, size int64) *Value {
	if addr == nil || size != 4 && size != 8 {
		return a.fresh(s, at, inSlot+1)
	}
	half := func(v *Value) *Value {
		if size == 4 {
			return a.low(v)
		}
		return v
	}
	slot, ok := SlotOf(addr)
	if !ok {
		v := a.get(Value{Kind: Load, A: addr, N: size, from: origin{loaded, at, 0}})
		a.rename(s, v)
		return v
	}
	if old, ok := s.Slots[slot]; ok {
		if old.Size == size || old.Size == 8 {
			return half(old.Value)
		}
		return a.fresh(s, at, inSlot+2)
	}
	// An argument on the stack is unchanged if its address was not taken.
	if slot.Base == nil && slot.Offset >= 0 && !s.overlaps(slot, size) && !a.escaped.has(slot, size) {
		return half(a.argument(slot.Offset))
	}
	v := a.fresh(s, at, inSlot+3)
	if !s.overlaps(slot, size) { // from now on, reads of the slot yield the same value
		s.Slots[slot] = Stored{v, size}
	}
	return half(v)
}

// overlaps reports whether a known slot has some of these bytes.
func (s *State) overlaps(slot Slot, size int64) bool {
	for other, v := range s.Slots {
		if other.Base == slot.Base && other.Offset < slot.Offset+size && other.Offset+v.Size > slot.Offset {
			return true
		}
	}
	return false
}

// store writes v to memory; v is nil if what is written is not known, addr if the address is not.
func (a *analysis) store(s *State, addr, v *Value, size int64) {
	slot, ok := SlotOf(addr)
	if !ok {
		a.storeElsewhere(s, addr)
		return
	}
	for other, old := range s.Slots {
		if other.Base == slot.Base && other.Offset < slot.Offset+size && other.Offset+old.Size > slot.Offset {
			delete(s.Slots, other)
			a.keepRest(s, other, old, slot, size)
		}
	}
	for word := slot.Offset &^ 7; word < slot.Offset+size; word += 8 {
		a.written[Slot{slot.Base, word}] = true
	}
	if v == nil { // a later read must not take it for an argument of the caller
		v = a.unknown(origin{how: stored}, addr, size)
		a.rename(s, v)
	}
	s.Slots[slot] = Stored{v, size}
}

// keepRest makes the bytes of a slot that a store has not overwritten unknown, if the slot is one of the
// arguments: they must not be taken for the argument at entry.
func (a *analysis) keepRest(s *State, other Slot, old Stored, slot Slot, size int64) {
	if other.Base != nil || other.Offset < 0 {
		return
	}
	if n := slot.Offset - other.Offset; n > 0 {
		s.Slots[other] = Stored{a.unknown(origin{how: overwritten}, a.frame(other.Offset), n), n}
	}
	if end, rest := slot.Offset+size, other.Offset+old.Size-slot.Offset-size; rest > 0 {
		s.Slots[Slot{nil, end}] = Stored{a.unknown(origin{how: overwritten}, a.frame(end), rest), rest}
	}
}

// storeElsewhere writes to memory that is not a known slot. It may be a slot whose address was taken.
func (a *analysis) storeElsewhere(s *State, addr *Value) {
	if addr != nil && (addr.Kind == Address || addr.Kind == Constant) {
		return // a variable of the image
	}
	if addr != nil && addr.Kind == Sum && addr.B != nil { // an array, perhaps on the stack
		if slot, ok := SlotOf(addr.A); ok {
			a.escape(slot)
		}
	}
	a.clobber(s, 0)
}

// escape notes that the address of a slot was taken.
func (a *analysis) escape(slot Slot) {
	for _, offset := range a.escaped[slot.Base] {
		if offset == slot.Offset {
			return
		}
	}
	a.escaped[slot.Base] = append(a.escaped[slot.Base], slot.Offset)
	a.again = true
}

// clobber makes the slots unknown that other functions may have written, except those with saved registers.
// at is the address of the instruction that lets them write, or 0.
func (a *analysis) clobber(s *State, at uint64) {
	for slot, v := range s.Slots {
		if a.escaped.has(slot, v.Size) && !(slot.Base == nil && slot.Offset < 0 && v.isSaved()) && !(a.partial && v.isOfEntry(slot)) {
			v.Value = a.get(Value{Kind: Unknown, A: slot.Base, N: slot.Offset, from: origin{overwritten, at, inSlot}})
			s.Slots[slot] = v
		}
	}
}

// isSaved reports whether a slot holds a saved register.
func (v Stored) isSaved() bool {
	return v.Value.Kind == Entry && amd64.Saved(int(v.Value.N))
}

// isOfEntry reports whether a slot relative to an aligned stack pointer holds what compilers save there at
// entry: a register, or the canonical frame address, with which the stack pointer is restored.
func (v Stored) isOfEntry(slot Slot) bool {
	return slot.Base != nil && (v.isSaved() || v.Value.Kind == Frame && v.Value.N == 0)
}

// escapes are the slots whose addresses were taken: offsets by base.
type escapes map[*Value][]int64

// has reports whether the address of a slot, or of one below it, was taken. The size of the object at such an
// address is not known, but an object among the variables of a function does not extend into the frame of its
// caller.
func (e escapes) has(slot Slot, size int64) bool {
	for _, offset := range e[slot.Base] {
		if offset < slot.Offset+size && (slot.Base != nil || slot.Offset < 0 || offset >= 0) {
			return true
		}
	}
	return false
}

// join merges a state into the one at the beginning of a block. It reports whether the latter has changed.
func (a *analysis) join(block uint64, s *State) bool {
	old := a.in[block]
	merged := &State{Slots: make(map[Slot]Stored, len(s.Slots))}
	for n, v := range s.Registers {
		var before *Value
		if old != nil {
			before = old.Registers[n]
		}
		merged.Registers[n] = a.joinValue(block, before, v, nil, int64(n))
		for k, half := range s.vectors[n] {
			if half != nil && (old == nil || old.vectors[n][k] == half) && !half.joinsAt(block) {
				merged.vectors[n][k] = half
			}
		}
	}
	for slot, v := range s.Slots {
		var before *Value
		if old != nil {
			w, ok := old.Slots[slot]
			if !ok || w.Size != v.Size {
				continue
			}
			before = w.Value
		}
		merged.Slots[slot] = Stored{a.joinValue(block, before, v.Value, &slot, 0), v.Size}
	}
	if old == nil {
		a.in[block] = merged
		return true
	}
	for _, one := range []*State{s, old} { // an argument that is overwritten on one way must not look unchanged
		for slot, v := range one.Slots {
			if _, ok := merged.Slots[slot]; !ok && slot.Base == nil && slot.Offset >= 0 {
				merged.Slots[slot] = Stored{a.joinedValue(block, &slot, 0), v.Size}
			}
		}
	}
	a.in[block] = merged
	return old.Registers != merged.Registers || old.vectors != merged.vectors || !maps.Equal(old.Slots, merged.Slots)
}

// place is a register or a slot at the beginning of a block.
type place struct {
	block uint64
	reg   int64
	slot  Slot
	mem   bool // it is slot, not reg
}

// joinedValue returns the unknown value of a place in which different values have met, and records the place.
func (a *analysis) joinedValue(block uint64, slot *Slot, reg int64) *Value {
	if slot == nil {
		a.joins[place{block: block, reg: reg}] = true
		return a.unknown(origin{joined, block, uint64(reg)}, nil, 0)
	}
	a.joins[place{block: block, slot: *slot, mem: true}] = true
	return a.get(Value{Kind: Unknown, A: slot.Base, N: slot.Offset, from: origin{joined, block, inSlot}})
}

// joinValue returns the value of a register or slot at the beginning of a block: v if it is the same on all
// ways, and otherwise the unknown value of the place. before is the value of the other ways, nil for the first
// way.
func (a *analysis) joinValue(block uint64, before, v *Value, slot *Slot, reg int64) *Value {
	at := place{block: block, reg: reg}
	if slot != nil {
		at = place{block: block, slot: *slot, mem: true}
	}
	if a.joins[at] || before != nil && before != v || v.joinsAt(block) {
		return a.joinedValue(block, slot, reg)
	}
	return v
}
