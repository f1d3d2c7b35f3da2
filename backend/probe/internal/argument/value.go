// The search for a value in the frames of a stack.

package argument

import (
	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/dataflow"
	"sdm/backend/probe/internal/image"
)

// ways are the directions in which values are looked for.
type ways uint8

const (
	inwards  ways = 1 << iota // in the functions that the frame has called
	outwards                  // in the functions that have called the frame
)

// maxDepth bounds the steps from value to value.
const maxDepth = 24

// query is how a value is looked for.
type query struct {
	bits  int // 32: only the lower half matters
	ways  ways
	depth int
	not   *dataflow.Slot // a slot that is not to be used; nil: none
}

// deeper returns the query for a value on which the present one depends.
func (q query) deeper(bits int, w ways) query {
	return query{bits: bits, ways: w, depth: q.depth + 1, not: q.not}
}

// cut returns the bits of v that matter.
func (q query) cut(v uint64) uint64 {
	if q.bits == 32 {
		return uint64(uint32(v))
	}
	return v
}

// found is a value, or none.
type found struct {
	v     uint64
	grade Grade
	ok    bool
}

// sure returns a value of grade Sure.
func (q query) sure(v uint64, ok bool) found { return found{q.cut(v), Sure, ok} }

// tells reports whether the value v can be determined from a place that holds the value held, and the number
// that must be added to its content. size is the size of the place, in bytes.
func (q query) tells(held, v *dataflow.Value, size int64) (plus int64, ok bool) {
	switch {
	case held == nil:
		return 0, false
	case held == v && (size == 8 || q.bits == 32):
		return 0, true
	case q.bits == 32 && held.Core() == v.Core():
		return 0, true
	case held.Kind == dataflow.Sum && held.B == nil && held.A == v && size == 8:
		return -held.N, true
	}
	return 0, false
}

// value returns the number that the expression v of frame i stands for.
func (f *Finder) value(i int, v *dataflow.Value, q query) found {
	if v == nil || q.depth > maxDepth {
		return found{}
	}
	frame := &f.thread.Stack.Frames[i]
	switch v.Kind {
	case dataflow.Constant:
		return q.sure(uint64(v.N), true)
	case dataflow.Frame:
		return q.sure(frame.CFA+uint64(v.N), frame.CFA != 0)
	}
	site := f.site(i)
	if site == nil {
		return found{}
	}
	if v.Kind == dataflow.Address {
		return q.sure(f.Image(i).Module().Bias+uint64(v.N), true)
	}
	for n := range amd64.Registers {
		if plus, ok := q.tells(site.Before.Registers[n], v, 8); ok && n != amd64.RSP {
			if bits, ok := f.register(i, n); ok {
				return q.sure(bits+uint64(plus), true)
			}
		}
	}
	if x := f.inSlots(i, site, v, q); x.ok {
		return x
	}
	if x, only := f.computed(i, site, v, q); x.ok || only {
		return x
	}
	if x := f.inside(i, site, v, q); x.ok {
		return x
	}
	return f.outside(i, v, q)
}

// inSlots looks for a value in the slots of a frame.
func (f *Finder) inSlots(i int, site *dataflow.Site, v *dataflow.Value, q query) (best found) {
	for slot, stored := range site.Before.Slots {
		plus, ok := q.tells(stored.Value, v, stored.Size)
		if !ok || q.not != nil && *q.not == slot {
			continue
		}
		addr, ok := f.slotAddr(i, site, slot)
		if !ok {
			continue
		}
		grade, ok := f.slotGrade(i, site, slot, stored.Size, addr)
		if !ok || best.ok && grade >= best.grade {
			continue
		}
		if bits, ok := f.Read(addr, stored.Size); ok {
			best = found{q.cut(bits + uint64(plus)), grade, true}
		}
	}
	return best
}

// slotAddr returns the address of a slot. Slots below the stack pointer are not valid: callees overwrite them.
func (f *Finder) slotAddr(i int, site *dataflow.Site, slot dataflow.Slot) (uint64, bool) {
	frame := &f.thread.Stack.Frames[i]
	addr := frame.CFA + uint64(slot.Offset)
	if slot.Base != nil {
		sp, ok := dataflow.SlotOf(site.Before.Registers[amd64.RSP])
		if !ok || sp.Base != slot.Base {
			return 0, false
		}
		addr = frame.SP + uint64(slot.Offset-sp.Offset)
	}
	const redZone = 128 // bytes that a function may use below the stack pointer (System V ABI, 3.2.2)
	return addr, frame.CFA != 0 && (addr >= frame.SP || frame.Exact && addr+redZone >= frame.SP)
}

// slotGrade returns the grade of the content of a slot; ok is false if the slot has been overwritten.
func (f *Finder) slotGrade(i int, site *dataflow.Site, slot dataflow.Slot, size int64, addr uint64) (g Grade, ok bool) {
	frame := &f.thread.Stack.Frames[i]
	if site.Escaped(slot, size) {
		g = Memory
		if f.inLibrary(i) { // the library itself may change it during the call
			g = Loose
		}
	}
	if frame.Exact || i == 0 {
		return g, true
	}
	switch f.calleeWrote(i, int64(addr-frame.SP), size) {
	case yes:
		return g, false
	case perhaps:
		g = Loose
	}
	return g, true
}

// inLibrary reports whether a frame is of the library of the function whose arguments are looked for.
func (f *Finder) inLibrary(i int) bool {
	x := f.Image(i)
	return x != nil && x == f.library && x != f.program()
}

// program returns the image of the program, which has the lowest address.
func (f *Finder) program() any {
	if len(f.process.Images) == 0 {
		return nil
	}
	return f.process.Images[0]
}

// answer is a result that may be uncertain.
type answer uint8

const (
	no answer = iota
	perhaps
	yes
)

// maxPassed bounds the arguments on the stack, in bytes.
const maxPassed = 128

// calleeWrote tells whether the function that frame i has called has written to a place of that frame. It may
// write to its arguments, which begin at the stack pointer; offset is relative to that, in bytes.
func (f *Finder) calleeWrote(i int, offset, size int64) answer {
	if offset < 0 || offset >= maxPassed {
		return no
	}
	if site := f.site(i); site != nil && !site.PassesOnStack() { // nor may functions to which the callee has jumped write there
		return no
	}
	if l := f.link(i); !l.proven { // a function that was called before, and has jumped to this one, may have written there
		return perhaps
	}
	callee := f.site(i - 1)
	if callee == nil {
		return perhaps
	}
	for slot, stored := range callee.Before.Slots {
		untouched := stored.Value.Kind == dataflow.Argument && stored.Value.N == slot.Offset
		if slot.Base == nil && slot.Offset < offset+size && slot.Offset+stored.Size > offset && !untouched {
			return yes
		}
	}
	if callee.Escaped(dataflow.Slot{Offset: offset}, size) {
		return perhaps
	}
	return no
}

// computed returns a value that is computed from others. only is true if there is no other way to
// find it.
func (f *Finder) computed(i int, site *dataflow.Site, v *dataflow.Value, q query) (x found, only bool) {
	switch v.Kind {
	case dataflow.Low:
		x = f.value(i, v.A, q.deeper(32, q.ways))
		x.v = uint64(uint32(x.v))
		return x, true
	case dataflow.Extended:
		x = f.value(i, v.A, q.deeper(32, q.ways))
		x.v = q.cut(uint64(int64(int32(x.v))))
		return x, true
	case dataflow.Sum:
		x = f.value(i, v.A, q.deeper(q.bits, q.ways))
		if v.B == nil || !x.ok {
			x.v = q.cut(x.v + uint64(v.N))
			return x, true
		}
		y := f.value(i, v.B, q.deeper(q.bits, q.ways))
		return found{q.cut(x.v + y.v*uint64(v.N)), max(x.grade, y.grade), y.ok}, true
	case dataflow.Load:
		return f.loaded(i, v, q), true
	case dataflow.Argument:
		return f.onStack(i, site, v, q), true
	case dataflow.Entry:
		if n := int(v.N); amd64.Saved(n) {
			if i+1 >= f.Frames() {
				return found{}, true
			}
			return q.sure(f.register(i+1, n)), true
		}
	}
	return found{}, false
}

// loaded returns a value that was read from memory, as the memory is now.
func (f *Finder) loaded(i int, v *dataflow.Value, q query) found {
	at := f.value(i, v.A, q.deeper(64, q.ways))
	if !at.ok {
		return found{}
	}
	bits, ok := f.Read(at.v, v.N)
	grade := at.grade
	if m := image.At(f.process.Maps, at.v); m == nil || m.Writable {
		grade = max(grade, Memory)
	}
	return found{q.cut(bits), grade, ok}
}

// onStack returns an argument of frame i that its caller has passed on the stack.
func (f *Finder) onStack(i int, site *dataflow.Site, v *dataflow.Value, q query) found {
	for slot, stored := range site.Before.Slots {
		if slot.Base == nil && slot.Offset < v.N+8 && slot.Offset+stored.Size > v.N && stored.Value != v {
			return found{} // overwritten
		}
	}
	frame := &f.thread.Stack.Frames[i]
	grade := Sure
	if site.Escaped(dataflow.Slot{Offset: v.N}, 8) { // it belongs to the function, which may have changed it
		grade = Loose
	}
	bits, ok := f.Read(frame.CFA+uint64(v.N), 8)
	return found{q.cut(bits), grade, ok && frame.CFA != 0}
}

// inside looks for a value that frame i has passed as an argument, in the function that it has called.
func (f *Finder) inside(i int, site *dataflow.Site, v *dataflow.Value, q query) found {
	frame := &f.thread.Stack.Frames[i]
	if q.ways&inwards == 0 || i == 0 || frame.Exact || f.thread.Stack.Frames[i-1].Signal {
		return found{}
	}
	for k, n := range amd64.Arguments {
		if plus, ok := q.tells(site.Before.Registers[n], v, 8); !ok || plus != 0 {
			continue
		}
		callee, l := f.site(i-1), f.link(i)
		if callee == nil || !l.proven && !l.open {
			return found{}
		}
		if x := f.value(i-1, callee.Argument(k), q.deeper(q.bits, inwards)); x.ok {
			x.grade = max(x.grade, l.grade())
			return x
		}
	}
	return found{}
}

// outside looks for a value with which frame i was entered, in its caller.
func (f *Finder) outside(i int, v *dataflow.Value, q query) found {
	if q.ways&outwards == 0 || v.Kind != dataflow.Entry || i+1 >= f.Frames() {
		return found{}
	}
	caller, l := f.site(i+1), f.link(i+1)
	if caller == nil || !l.proven && !l.open {
		return found{}
	}
	x := f.value(i+1, caller.Before.Registers[v.N], q.deeper(q.bits, outwards))
	x.grade = max(x.grade, l.grade())
	return x
}

// passed returns argument n that frame i has passed to the function that it has called.
func (f *Finder) passed(i, n, bits int) found {
	site := f.site(i)
	if site == nil {
		return found{}
	}
	v, slot, onStack := site.Passed(n)
	q := query{bits: bits, ways: outwards}
	if onStack { // the callee may have written there
		q.not = &slot
	}
	return f.value(i, v, q)
}
