package argument

import (
	"golang.org/x/arch/x86/x86asm"

	"sdm/backend/probe/amd64"
)

// link tells whether the function of frame i-1 is the one that frame i has called, so that registers
// at the call are those at entry.
type link struct {
	proven bool
	open   bool // what frame i calls is not known
}

func (l link) grade() Grade {
	if l.proven {
		return Sure
	}
	return Loose
}

func (f *Finder) isProven(i int) bool { return i < f.Frames() && f.link(i).proven }

func (f *Finder) link(i int) link {
	if l, known := f.links[i]; known {
		return l
	}
	if i < 1 || i >= f.Frames() {
		return link{}
	}
	f.links[i] = link{} // while it is looked for
	l := f.prove(i)
	f.links[i] = l
	return l
}

func (f *Finder) prove(i int) link {
	caller, callee := f.site(i), f.site(i-1)
	if caller == nil || callee == nil || caller.Target == nil {
		return link{}
	}
	entry := f.Image(i-1).Module().Bias + callee.First
	to := f.value(i, caller.Target, query{bits: 64, ways: inwards | outwards, depth: mostDepth / 2})
	if !to.ok {
		return link{open: true}
	}
	return link{proven: f.leads(to.v, entry)}
}

// mostJumps bounds a chain of functions that only jump on.
const mostJumps = 4

// leads reports whether code at an address is another, or only jumps there: a stub of the dynamic
// linker, or a function that calls another at its end.
func (f *Finder) leads(from, to uint64) bool {
	for range mostJumps {
		if from == to {
			return true
		}
		next, ok := f.jump(from)
		if !ok {
			return false
		}
		from = next
	}
	return from == to
}

// jump returns where code leads that does nothing but jump.
func (f *Finder) jump(at uint64) (uint64, bool) {
	for range 2 { // ENDBR64 and the jump
		i := amd64.At(f.process.Memory(), at)
		if i == nil {
			return 0, false
		}
		if i.Op == x86asm.JMP {
			if to, direct := i.Target(); direct {
				return to, true
			}
			m, ok := i.Args[0].(x86asm.Mem)
			if !ok || m.Base != x86asm.RIP || m.Index != 0 {
				return 0, false
			}
			return f.Read(i.Next()+uint64(m.Disp), 8)
		}
		if i.Op != x86asm.NOP {
			return 0, false
		}
		at = i.Next()
	}
	return 0, false
}
