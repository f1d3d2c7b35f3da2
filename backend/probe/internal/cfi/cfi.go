// Package cfi provides call frame information: where a function keeps the registers of its caller.
// It is pure; the tables are read through Memory. The format is .eh_frame (Linux Standard Base,
// Exception Frames), with the rules of DWARF 5, section 6.4. All sizes are bounded, so that damaged
// or hostile tables cost little.
package cfi

import "errors"

// Memory is the memory of a process or the bytes of a file, by address.
type Memory interface {
	// Read fills b from an address. It returns false if not all of b can be read.
	Read(addr uint64, b []byte) bool
}

// MaxRegisters is the number of registers that are followed: x86-64 has 17, arm64 33 with the
// program counter.
const MaxRegisters = 33

// Registers are the registers of a frame, by their DWARF numbers. The zero value knows none.
type Registers struct {
	value [MaxRegisters]uint64
	known uint64 // a bit for each register
}

// Get returns a register; ok is false if its value is not known.
func (r *Registers) Get(n uint64) (v uint64, ok bool) {
	if n >= MaxRegisters || r.known>>n&1 == 0 {
		return 0, false
	}
	return r.value[n], true
}

// Set sets a register. Numbers from MaxRegisters on are ignored.
func (r *Registers) Set(n, v uint64) {
	if n < MaxRegisters {
		r.value[n] = v
		r.known |= 1 << n
	}
}

// forget makes a register unknown.
func (r *Registers) forget(n uint64) {
	if n < MaxRegisters {
		r.known &^= 1 << n
	}
}

// ErrNone is the error for an address for which a table has no entry.
var ErrNone = errors.New("no unwind tables")

// errDamaged is the error for an entry that cannot be decoded.
var errDamaged = errors.New("damaged unwind tables")

// ruleKind says how a register of the caller is found.
type ruleKind uint8

const (
	unset        ruleKind = iota // no rule: the register is taken to be unchanged
	undefined                    // the value is lost
	same                         // the register is unchanged
	atOffset                     // stored at CFA + offset
	isOffset                     // CFA + offset itself
	inRegister                   // in the register whose number is the offset
	atExpression                 // stored at the address that the expression yields
	isExpression                 // the result of the expression itself
)

// rule is how one register is found.
type rule struct {
	kind   ruleKind
	offset int64
	expr   []byte
}

// rules are the rules of a row. The canonical frame address (CFA) is the stack pointer before the
// call: isOffset of register base, or an expression.
type rules struct {
	cfa  rule
	base uint64
	regs [MaxRegisters]rule
}

// Row is what the table says about one address. It is immutable.
type Row struct {
	rules
	first  uint64 // address of the entry
	size   uint64 // bytes of code of the entry
	ra     uint64 // register of the return address
	signal bool
}

// First returns the first address of the entry, which is usually where the function begins.
func (r *Row) First() uint64 { return r.first }

// End returns the first address after the entry.
func (r *Row) End() uint64 { return r.first + r.size }

// Signal reports whether the frame was made by the delivery of a signal.
func (r *Row) Signal() bool { return r.signal }
