package argument

import "sdm/backend/probe/amd64"

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
func (f *Finder) jump(at uint64) (to uint64, ok bool) {
	to, slot, ok := amd64.Jump(f.process.Memory(), at)
	if ok && slot != 0 {
		return f.Read(slot, 8)
	}
	return to, ok
}
