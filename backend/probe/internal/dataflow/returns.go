// Calls that do not return.

package dataflow

import (
	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/internal/amd64"
)

// depth is what is known of the stack pointer, relative to the canonical frame address.
type depth struct {
	n     int64
	known bool
}

// after returns the depth after an instruction.
func (d depth) after(i *amd64.Inst) depth {
	by := int64(0)
	switch i.Op {
	case x86asm.PUSH:
		by = -8
	case x86asm.POP:
		by = 8
		d.known = d.known && i.Args[0] != x86asm.RSP
	case x86asm.LEAVE, x86asm.ENTER:
		return depth{}
	case x86asm.CMP, x86asm.TEST:
	case x86asm.SUB, x86asm.ADD:
		if i.Args[0] != x86asm.RSP {
			break
		}
		n, ok := i.Args[1].(x86asm.Imm)
		if by = int64(n); i.Op == x86asm.SUB {
			by = -by
		}
		d.known = d.known && ok
	case x86asm.LEA:
		if i.Args[0] != x86asm.RSP {
			break
		}
		m, _ := i.Args[1].(x86asm.Mem)
		by, d.known = m.Disp, d.known && m.Base == x86asm.RSP && m.Index == 0
	default:
		d.known = d.known && i.Args[0] != x86asm.RSP && (i.Op != x86asm.XCHG || i.Args[1] != x86asm.RSP)
	}
	if !d.known {
		return depth{}
	}
	return depth{d.n + by, true}
}

// entryDepth is the depth at the entry of a function, and before it returns.
var entryDepth = depth{-8, true}

// endings is how the ways through a function end, by the addresses of its blocks.
type endings struct {
	*analysis
	in      map[uint64]depth    // at the beginning of a block
	before  map[uint64][]uint64 // blocks that lead to a block, at the same depth
	returns map[uint64]bool     // a way from the block may return from the function
	endless map[uint64]bool     // calls that do not return, by address
}

// stray is a block from which a way returns, or jumps to a block, at a depth at which only another function does.
type stray struct {
	block uint64
	depth int64
}

// findEndless finds calls that do not return. The code behind such a call is another function. So no way from
// there returns as this function must, and one returns with the stack pointer that it had at the call.
func (a *analysis) findEndless() map[uint64]bool {
	e := &endings{a, map[uint64]depth{a.first: entryDepth}, map[uint64][]uint64{}, map[uint64]bool{}, map[uint64]bool{}}
	var returning []uint64
	var strays []stray
	for work := []uint64{a.first}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		d, returns := e.in[at], false
		for _, i := range a.blocks[at].code {
			d = d.after(i)
		}
		for _, to := range a.blocks[at].to {
			if a.blocks[to] == nil {
				continue
			}
			in, seen := e.in[to]
			if !seen {
				in, e.in[to] = d, d
				work = append(work, to)
			}
			switch {
			case in == d:
				e.before[to] = append(e.before[to], at)
			case in.known && d.known:
				strays = append(strays, stray{at, d.n})
			default:
				returns = true
			}
		}
		switch last := e.last(at); {
		case last != x86asm.RET && last != x86asm.JMP:
		case !d.known || d == entryDepth:
			returns = true
		case last == x86asm.RET:
			strays = append(strays, stray{at, d.n})
		}
		if returns {
			returning = append(returning, at)
		}
	}
	for len(returning) > 0 {
		at := returning[len(returning)-1]
		returning = returning[:len(returning)-1]
		if !e.returns[at] {
			e.returns[at] = true
			returning = append(returning, e.before[at]...)
		}
	}
	e.follow(strays)
	return e.endless
}

// last returns the last instruction of a block if no way leads on from there; 0: there is none.
func (e *endings) last(block uint64) x86asm.Op {
	b := e.blocks[block]
	if len(b.code) == 0 || len(b.to) > 0 {
		return 0
	}
	return b.code[len(b.code)-1].Op
}

// follow follows strays back to the calls that do not return.
func (e *endings) follow(strays []stray) {
	seen := map[stray]bool{}
	for len(strays) > 0 {
		s := strays[len(strays)-1]
		strays = strays[:len(strays)-1]
		if seen[s] || e.returns[s.block] {
			continue
		}
		seen[s] = true
		if call := e.callAt(s); call != nil {
			e.endless[call.Addr] = true
			continue
		}
		for _, before := range e.before[s.block] {
			strays = append(strays, stray{before, s.depth})
		}
	}
}

// callAt returns the last call in a block at a depth; nil: there is none.
func (e *endings) callAt(s stray) (last *amd64.Inst) {
	d := e.in[s.block]
	for _, i := range e.blocks[s.block].code {
		if i.IsCall() && d == (depth{s.depth, true}) {
			last = i
		}
		d = d.after(i)
	}
	return last
}
