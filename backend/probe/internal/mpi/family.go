// Implementations of MPI, and the numbers that they have for handles, peers and tags.

package mpi

// Family is an implementation of MPI, by what its handles are.
type Family uint8

const (
	// OpenMPI has pointers as handles. Releases after 4 are recognized by their symbols.
	OpenMPI Family = iota + 1
	// MPICH has 32-bit numbers as handles; so have its descendants Intel MPI, MVAPICH and Cray MPICH.
	MPICH
)

// handleBytes returns the size of a handle in bytes.
func (f Family) handleBytes() int {
	if f == MPICH {
		return 4
	}
	return 8
}

// handle returns the bits of a handle.
func (f Family) handle(v int64) uint64 {
	if f == MPICH {
		return uint64(uint32(v))
	}
	return uint64(v)
}

// bits returns the size of an argument. large is true in functions with counts of 64 bits.
func (f Family) bits(k Kind, large bool) int {
	switch k {
	case Buffer, Pointer, Requests, Long, File, CommAt, WindowAt, FileAt:
		return 64
	case Datatype, Comm, Op, Window, Handle:
		return 8 * f.handleBytes()
	case Count:
		if large {
			return 64
		}
	}
	return 32
}

// wildcards returns the numbers of a library for any source, no peer and any tag.
func (f Family) wildcards() (anySource, noPeer, anyTag int) {
	if f == OpenMPI {
		return -1, -2, -1
	}
	return -2, -1, -1
}

// peer converts a peer of the library to one of this package.
func (f Family) peer(v int) int {
	anySource, noPeer, _ := f.wildcards()
	switch v {
	case anySource:
		return AnySource
	case noPeer:
		return NoPeer
	}
	return v
}

// tag converts a tag of the library to one of this package.
func (f Family) tag(v int) int {
	if _, _, anyTag := f.wildcards(); v == anyTag {
		return AnyTag
	}
	return v
}

// raw returns the library's own number for a peer or tag.
func (f Family) raw(v int) int64 {
	anySource, noPeer, anyTag := f.wildcards()
	switch v {
	case AnySource:
		return int64(anySource)
	case NoPeer:
		return int64(noPeer)
	case AnyTag:
		return int64(anyTag)
	}
	return int64(v)
}
