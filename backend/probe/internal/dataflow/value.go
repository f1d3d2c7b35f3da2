// Symbolic values.

package dataflow

// Kind is what a value is.
type Kind uint8

const (
	// Entry is the value that register N had when the function was entered.
	Entry Kind = iota
	// Constant is N.
	Constant
	// Address is address N of the file of the image, which is loaded at another one.
	Address
	// Frame is the canonical frame address (the stack pointer before the call) plus N.
	Frame
	// Argument is what was at the canonical frame address plus N at entry: an argument on the stack.
	Argument
	// Low is the lower half of A, with zeros above.
	Low
	// Extended is the lower half of A, extended by its sign.
	Extended
	// Load is what N bytes of memory at A held when they were read.
	Load
	// Sum is A + N, or A + N×B.
	Sum
	// Unknown is a value of which only the origin is known. Equal Unknowns stand for the same number.
	Unknown
)

// Value is an expression of the values at the entry of a function. Equal values of one analysis are one
// pointer.
type Value struct {
	Kind Kind
	A, B *Value
	N    int64
	from origin
}

// origin distinguishes an unknown value or a load from others.
type origin struct {
	how   originKind
	at    uint64 // address of an instruction or a block
	place uint64 // register, or a number from inSlot on
}

type originKind uint8

const (
	anywhere    originKind = iota
	written                // by the instruction, to the register
	aligned                // the stack pointer, after the instruction
	joined                 // at the beginning of the block, where different values meet
	renamed                // it was A before an instruction of a loop was executed again
	overwritten            // in memory, perhaps by another function
	stored                 // to memory; the written value is not known
	loaded                 // by the instruction
)

// pool keeps values, so that equal ones are one pointer.
type pool map[Value]*Value

// ofEntry returns the values that Site.Entry and Site.Argument look for. The others take most of the memory of an
// analysis.
func (p pool) ofEntry() pool {
	out := pool{}
	for v, known := range p {
		if v.Kind == Entry || v.Kind == Argument {
			out[v] = known
		}
	}
	return out
}

func (p pool) get(v Value) *Value {
	if known := p[v]; known != nil {
		return known
	}
	p[v] = &v
	return &v
}

func (p pool) constant(n int64) *Value { return p.get(Value{Kind: Constant, N: n}) }
func (p pool) entry(reg int) *Value    { return p.get(Value{Kind: Entry, N: int64(reg)}) }
func (p pool) frame(n int64) *Value    { return p.get(Value{Kind: Frame, N: n}) }
func (p pool) argument(n int64) *Value { return p.get(Value{Kind: Argument, N: n}) }
func (p pool) address(a uint64) *Value { return p.get(Value{Kind: Address, N: int64(a)}) }
func (p pool) unknown(o origin, a *Value, n int64) *Value {
	return p.get(Value{Kind: Unknown, A: a, N: n, from: o})
}

// plus returns v + n.
func (p pool) plus(v *Value, n int64) *Value {
	switch {
	case n == 0:
		return v
	case v.Kind == Constant, v.Kind == Frame, v.Kind == Address:
		return p.get(Value{Kind: v.Kind, N: v.N + n})
	case v.Kind == Sum && v.B == nil:
		return p.plus(v.A, v.N+n)
	}
	return p.get(Value{Kind: Sum, A: v, N: n})
}

// sum returns a + scale×b.
func (p pool) sum(a, b *Value, scale int64) *Value {
	switch {
	case b.Kind == Constant:
		return p.plus(a, b.N*scale)
	case scale == 1 && a.Kind == Constant:
		return p.plus(b, a.N)
	case scale == 1 && b.Kind == Address:
		a, b = b, a
	}
	return p.get(Value{Kind: Sum, A: a, B: b, N: scale})
}

// low returns the lower half of v with zeros above.
func (p pool) low(v *Value) *Value {
	switch {
	case v.Kind == Constant:
		return p.constant(int64(uint32(v.N)))
	case v.Kind == Low, v.Kind == Load && v.N <= 4:
		return v
	case v.Kind == Extended:
		return p.low(v.A)
	}
	return p.get(Value{Kind: Low, A: v})
}

// extended returns the lower half of v, extended by its sign.
func (p pool) extended(v *Value) *Value {
	switch v.Kind {
	case Constant:
		return p.constant(int64(int32(v.N)))
	case Low:
		return p.extended(v.A)
	case Extended:
		return v
	}
	return p.get(Value{Kind: Extended, A: v})
}

// Core returns v without the operations Low and Extended around it.
func (v *Value) Core() *Value {
	for v.Kind == Low || v.Kind == Extended {
		v = v.A
	}
	return v
}

// mentions reports whether v is computed from other. A renamed value does not count as computed from its A.
func (v *Value) mentions(other *Value) bool {
	switch {
	case v == nil:
		return false
	case v == other:
		return true
	case v.Kind == Unknown && v.from.how == renamed:
		return false
	}
	return v.A.mentions(other) || v.B.mentions(other)
}

// joinsAt reports whether v is computed from a value that was joined at the beginning of a block.
func (v *Value) joinsAt(block uint64) bool {
	switch {
	case v == nil:
		return false
	case v.Kind == Unknown:
		return v.from.how == joined && v.from.at == block
	}
	return v.A.joinsAt(block) || v.B.joinsAt(block)
}
