// Functions of MPI that end in a jump, so that they have no frame.

package mpi

import (
	"slices"

	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/snapshot"
)

// maxScanned bounds the part of a function of MPI in which jumps are looked for, in bytes. Those that jump to another
// one check their arguments before, and do little else.
const maxScanned = 1 << 10

// jumper returns the function of MPI, without MPI_, that ends in a jump to the function of an image that begins at an
// address; "": none does, or several do. Such a function is recognised without its caller, which may have called it
// through a pointer: exit(3) calls handlers so.
func (l *Library) jumper(x snapshot.Image, first uint64) string {
	key := x.Module().Key()
	jumps, known := l.cache.jumps[key]
	if !known {
		if l.cache.jumps == nil {
			l.cache.jumps = map[string]map[uint64]string{}
		}
		jumps = l.jumpsOf(x)
		l.cache.jumps[key] = jumps
	}
	return jumps[first-x.Module().Bias]
}

// several stands for a function to which several functions of MPI jump.
const several = ""

// jumpsOf returns the functions of MPI by the functions of an image to which they jump at their ends, by addresses of
// its file.
func (l *Library) jumpsOf(x snapshot.Image) map[uint64]string {
	names := map[uint64]string{}
	for name := range l.cache.signatures() {
		if addr, ok := l.machine.image.Address("PMPI_" + name); ok {
			names[addr] = name
		}
	}
	all := map[uint64]string{}
	bias := x.Module().Bias
	for addr, name := range names {
		for _, to := range l.jumpsFrom(x, addr) {
			if before, known := all[to-bias]; known && before != name {
				all[to-bias] = several
			} else {
				all[to-bias] = name
			}
		}
	}
	return all
}

// jumpsFrom returns the functions of an image to which the function of MPI at an address jumps.
func (l *Library) jumpsFrom(x snapshot.Image, first uint64) (all []uint64) {
	code := make([]byte, maxScanned)
	mem := l.process.Memory()
	for len(code) > 0 && !mem.Read(first, code) { // the mapping may end before
		code = code[:len(code)/2]
	}
	for at := 0; at < len(code); {
		i := amd64.Decode(code[at:], first+uint64(at))
		if i == nil {
			break
		}
		if to, ok := i.Target(); ok && i.IsJump() {
			if to = l.destination(x, to); !slices.Contains(all, to) && l.isIn(first, i.Addr) && l.isBegin(x, to) {
				all = append(all, to)
			}
		}
		at += i.Len
	}
	return all
}

// destination returns the address to which code at an address jumps if that is all it does, as a stub of the linker
// does for a function of image x. The slot of such a stub is filled when it is used first.
func (l *Library) destination(x snapshot.Image, at uint64) uint64 {
	to, slot, ok := amd64.Jump(l.process.Memory(), at)
	switch {
	case !ok:
		return at
	case slot == 0:
		return to
	}
	if name := l.machine.image.Link(slot); name != "" {
		to, _ = x.Address(name)
	}
	return to
}

// isIn reports whether an address is in the function of MPI that begins at first.
func (l *Library) isIn(first, at uint64) bool {
	_, begin, ok := l.machine.image.Function(at)
	return ok && begin == first
}

// isBegin reports whether a function of an image begins at an address.
func (l *Library) isBegin(x snapshot.Image, at uint64) bool {
	if l.process.At(at) != x {
		return false
	}
	_, begin, ok := x.Function(at)
	return ok && begin == at
}
