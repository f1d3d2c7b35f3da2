// Instructions of entries (DWARF 5, section 6.4.2).

package cfi

// maxRemembered bounds DW_CFA_remember_state.
const maxRemembered = 32

// execution is the state of the execution of instructions.
type execution struct {
	*common
	rules            // at address at
	start      rules // after the initial instructions
	remembered []rules
	at, until  uint64 // present address, and the one whose row is wanted
	limited    bool   // execution ends after until; false for the initial instructions
}

// execute returns the row for pc; r is at the instructions of the entry.
func (c *common) execute(r *reader, first, pc uint64) (*Row, error) {
	x := &execution{common: c, at: first, until: pc}
	initial := &reader{b: c.initial}
	x.run(initial)
	x.start, x.at, x.limited = x.rules, first, true
	x.run(r)
	if initial.bad || r.bad {
		return nil, errDamaged
	}
	return &Row{rules: x.rules, first: first, ra: c.ra, signal: c.signal}, nil
}

// run executes instructions until the next one is for addresses after until.
func (x *execution) run(r *reader) {
	for r.more() && !x.step(r) {
	}
}

// step executes an instruction; it returns true when the row is complete.
func (x *execution) step(r *reader) (done bool) {
	op := r.u8()
	low := uint64(op & 0x3f)
	switch op >> 6 {
	case 1:
		return x.advance(low)
	case 2:
		x.set(low, rule{kind: atOffset, offset: x.scaled(r)})
	case 3:
		x.restore(low)
	default:
		return x.extended(r, op)
	}
	return false
}

// extended executes an instruction whose opcode has all 8 bits.
func (x *execution) extended(r *reader, op byte) (done bool) {
	switch op {
	case 0x00: // nop
	case 0x01: // set_loc
		return x.moveTo(r.pointer(x.encoding, 0))
	case 0x02, 0x03, 0x04: // advance_loc1, 2, 4
		return x.advance(r.unsigned(1 << (op - 2)))
	case 0x0a: // remember_state
		r.bad = r.bad || len(x.remembered) == maxRemembered
		x.remembered = append(x.remembered, x.rules)
	case 0x0b: // restore_state
		x.recall(r)
	case 0x2d: // AARCH64_negate_ra_state: the stored address is signed, which its bits tell, too
	case 0x2e: // GNU_args_size
		r.uleb()
	case 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13:
		x.frameAddress(r, op)
	default:
		x.register(r, op)
	}
	return false
}

func (x *execution) advance(n uint64) bool { return x.moveTo(x.at + n*x.codeFactor) }

// moveTo sets the present address; it returns true, and does nothing, if that is after until.
func (x *execution) moveTo(at uint64) bool {
	if x.limited && at > x.until {
		return true
	}
	x.at = at
	return false
}

// recall executes DW_CFA_restore_state.
func (x *execution) recall(r *reader) {
	n := len(x.remembered) - 1
	if n < 0 {
		r.bad = true
		return
	}
	x.rules, x.remembered = x.remembered[n], x.remembered[:n]
}

func (x *execution) set(n uint64, to rule) {
	if n < MaxRegisters {
		x.regs[n] = to
	}
}

func (x *execution) restore(n uint64) {
	if n < MaxRegisters {
		x.regs[n] = x.start.regs[n]
	}
}

func (x *execution) scaled(r *reader) int64       { return int64(r.uleb()) * x.dataFactor }
func (x *execution) scaledSigned(r *reader) int64 { return r.sleb() * x.dataFactor }

// frameAddress executes an instruction about the CFA.
func (x *execution) frameAddress(r *reader, op byte) {
	switch op {
	case 0x0c: // def_cfa
		x.base = r.uleb()
		x.cfa = rule{kind: isOffset, offset: int64(r.uleb())}
	case 0x0d: // def_cfa_register
		x.base = r.uleb()
	case 0x0e: // def_cfa_offset
		x.cfa.offset = int64(r.uleb())
	case 0x0f: // def_cfa_expression
		x.cfa = rule{kind: isExpression, expr: r.block()}
	case 0x12: // def_cfa_sf
		x.base = r.uleb()
		x.cfa = rule{kind: isOffset, offset: x.scaledSigned(r)}
	case 0x13: // def_cfa_offset_sf
		x.cfa.offset = x.scaledSigned(r)
	}
}

// register executes an instruction about one register.
func (x *execution) register(r *reader, op byte) {
	n := r.uleb()
	switch op {
	case 0x05: // offset_extended
		x.set(n, rule{kind: atOffset, offset: x.scaled(r)})
	case 0x06: // restore_extended
		x.restore(n)
	case 0x07: // undefined
		x.set(n, rule{kind: undefined})
	case 0x08: // same_value
		x.set(n, rule{kind: same})
	case 0x09: // register
		x.set(n, rule{kind: inRegister, offset: int64(r.uleb())})
	case 0x10: // expression
		x.set(n, rule{kind: atExpression, expr: r.block()})
	case 0x11: // offset_extended_sf
		x.set(n, rule{kind: atOffset, offset: x.scaledSigned(r)})
	case 0x14: // val_offset
		x.set(n, rule{kind: isOffset, offset: x.scaled(r)})
	case 0x15: // val_offset_sf
		x.set(n, rule{kind: isOffset, offset: x.scaledSigned(r)})
	case 0x16: // val_expression
		x.set(n, rule{kind: isExpression, expr: r.block()})
	case 0x2f: // GNU_negative_offset_extended
		x.set(n, rule{kind: atOffset, offset: -x.scaled(r)})
	default:
		r.bad = true
	}
}
