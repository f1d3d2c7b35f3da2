// Rows that are not read from tables.

package cfi

// Place says where a value is: in a register, at an address, or such a number itself.
type Place struct {
	// Register is a DWARF number, or CFA for the canonical frame address.
	Register uint64
	Offset   int64 // bytes, added to the register
	Stored   bool  // the value is in memory there; otherwise it is the sum itself
	Add      int64 // bytes, added to a stored value
}

// CFA is the Register of a Place relative to the canonical frame address. Lost is the Register of a value that
// is not stored anywhere.
const (
	CFA  = MaxRegisters
	Lost = MaxRegisters + 1
)

// NewRow returns a row for addresses from first to before end: the canonical frame address is frame, and
// the caller's registers are in saved, by DWARF number. Other registers have not changed. ra is the DWARF
// number of the return address, which is stored just below the canonical frame address, as by a call
// instruction of x86-64.
func NewRow(first, end uint64, frame Place, saved map[uint64]Place, ra uint64) *Row {
	r := &Row{first: first, size: end - first, ra: ra}
	if frame.Stored {
		r.cfa = rule{kind: isExpression, expr: frame.expression()}
	} else {
		r.base, r.cfa = frame.Register, rule{kind: isOffset, offset: frame.Offset}
	}
	for n, p := range saved {
		if n < MaxRegisters {
			r.regs[n] = p.rule()
		}
	}
	r.regs[ra] = rule{kind: atOffset, offset: -8}
	return r
}

func (p Place) rule() rule {
	switch {
	case p.Register == Lost:
		return rule{kind: undefined}
	case p.Register == CFA && p.Stored && p.Add == 0:
		return rule{kind: atOffset, offset: p.Offset}
	case !p.Stored && p.Offset == 0:
		return rule{kind: inRegister, offset: int64(p.Register)}
	}
	return rule{kind: isExpression, expr: p.expression()}
}

// expression returns the DWARF expression of the value in a place; its register must be one of the 32 that
// have an operation DW_OP_breg of their own.
func (p Place) expression() []byte {
	e := appendSigned([]byte{0x70 + byte(p.Register)}, p.Offset) // breg
	if p.Stored {
		e = append(e, 0x06) // deref
	}
	if p.Add != 0 {
		e = append(appendSigned(append(e, 0x11), p.Add), 0x22) // consts, plus
	}
	return e
}

// appendSigned appends a signed LEB128 number (DWARF 5, 7.6).
func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
