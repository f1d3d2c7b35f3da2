// Which function a frame has called.

package argument

import "sdm/backend/probe/internal/amd64"

// link tells whether the function of frame i-1 is the one that frame i has called. Then the registers at the
// call are those at the entry of that function.
type link struct {
	proven bool // it is
	open   bool // the target of the call is not known
}

// grade returns the best grade of a value that is found across the call.
func (l link) grade() Grade {
	if l.proven {
		return Sure
	}
	return Loose
}

func (f *Finder) isProven(i int) bool { return i < f.Frames() && f.link(i).proven }

// link returns the link of caller i.
func (f *Finder) link(i int) link {
	if l, known := f.links[i]; known {
		return l
	}
	if i < 1 || i >= f.Frames() {
		return link{}
	}
	f.links[i] = link{} // for calls of link within prove
	l := f.prove(i)
	f.links[i] = l
	return l
}

// prove compares the target of the call of frame i with the function of frame i-1.
func (f *Finder) prove(i int) link {
	caller, callee := f.site(i), f.site(i-1)
	if caller == nil || callee == nil || caller.Target == nil {
		return link{}
	}
	entry := f.Image(i-1).Module().Bias + callee.First
	to := f.value(i, caller.Target, query{bits: 64, ways: inwards | outwards, depth: maxDepth / 2})
	if !to.ok {
		return link{open: true}
	}
	return link{proven: f.leads(to.v, entry)}
}

// maxJumps bounds a chain of functions that only jump to another one.
const maxJumps = 4

// leads reports whether the address from is the address to, or code that only jumps there, such as a stub of
// the linker.
func (f *Finder) leads(from, to uint64) bool {
	for range maxJumps {
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

// jump returns the target of code that is only a jump.
func (f *Finder) jump(at uint64) (to uint64, ok bool) {
	to, slot, ok := amd64.Jump(f.process.Memory(), at)
	if ok && slot != 0 {
		return f.Read(slot, 8)
	}
	return to, ok
}
