// The MPI library of a process, and questions to it.

package mpi

import (
	"errors"
	"fmt"
	"strings"

	"sdm/backend/probe/internal/emulator"
	"sdm/backend/probe/internal/snapshot"
)

// Library is the MPI of a process, as it was when its snapshot was taken. One goroutine uses it at
// a time.
type Library struct {
	Family Family

	cache      *Cache
	process    *snapshot.Process
	images     []snapshot.Image // that may have objects of the library
	machine    machine
	world      uint64 // handle of MPI_COMM_WORLD
	objects    map[string]uint64
	comms      map[uint64]*Communicator
	owners     map[owned]*Communicator
	ends       map[*Communicator][]endpoint
	types      map[uint64]*Type
	ops        map[uint64]string
	nameField  uint64                   // offset of the name in a communicator of Open MPI 5 and later; 0: not known
	contexts   map[uint64]*Communicator // see byContext
	collective *uint32                  // of MPICH: kindOfCollectives; nil: not asked yet
	proven     bool                     // why is valid
	why        error                    // why the library is not understood
}

// Open returns the MPI of a process; nil if it has none. cache belongs to the program, and thread is the
// thread pointer of one of its threads.
func Open(p *snapshot.Process, cache *Cache, thread uint64) *Library {
	l := &Library{cache: cache, process: p, objects: map[string]uint64{}, comms: map[uint64]*Communicator{}, owners: map[owned]*Communicator{}, ends: map[*Communicator][]endpoint{}, types: map[uint64]*Type{}}
	for i, x := range p.Images {
		if i == 0 || IsLibrary(x.Module().Name()) || strings.HasPrefix(x.Module().Name(), "libopen") {
			l.add(x)
		}
	}
	if l.machine.image == nil { // the library has another name
		for _, x := range p.Images[min(1, len(p.Images)):] {
			if l.add(x); l.machine.image == x {
				break
			}
		}
	}
	if l.machine.image == nil {
		return nil
	}
	l.Family, l.world = MPICH, worldOfMPICH
	if l.object("ompi_mpi_comm_self") != 0 {
		l.Family, l.world = OpenMPI, l.object("ompi_mpi_comm_world")
	}
	l.machine.Machine = emulator.New(linked{p, cache})
	l.machine.Thread, l.machine.ForgetLocks = thread, l.Family == MPICH
	return l
}

// otherHandle is MPI_COMM_WORLD of libraries with the binary interface of MPI 5.0 (section 20.1), which
// may have the functions of both families.
const otherHandle = 0x101

// proof returns why the library is not understood; nil: it is. Vendors have changed both families. So the library
// must accept the handle of MPI_COMM_WORLD of its family, and refuse the one of another binary interface.
func (l *Library) proof() error {
	if !l.proven {
		l.proven = true
		if l.why = l.World().Err; l.why == nil {
			if _, _, err := l.machine.number("PMPI_Comm_rank", otherHandle); err == nil {
				l.why = errors.New("it has handles of another kind")
			}
		}
	}
	return l.why
}

// Number returns the rank of the process in MPI_COMM_WORLD; ok is false if the library does not know it, as before
// MPI_Init, or is not understood.
func (l *Library) Number() (n int, ok bool) {
	if l.proof() != nil {
		return 0, false
	}
	return l.World().Rank, true
}

// maxVersion is more than the longest version (MPI_MAX_LIBRARY_VERSION_STRING: 256 to 8192), in bytes.
const maxVersion = 1 << 14

// Version returns what the library says of itself (MPI_Get_library_version): its name and version, "Open MPI 4.1.4";
// "": it does not say it.
func (l *Library) Version() string {
	key := l.machine.image.Module().Key()
	v, known := l.cache.versions[key]
	if !known {
		text, length := l.machine.Alloc(maxVersion), l.machine.Alloc(8)
		if _, err := l.machine.ask("PMPI_Get_library_version", text, length); err == nil {
			v = versionIn(l.machine.Text(text))
		}
		l.machine.Undo()
		if l.cache.versions == nil {
			l.cache.versions = map[string]string{}
		}
		l.cache.versions[key] = v
	}
	return v
}

// versionIn returns the name and version in what a library says: "Open MPI v4.1.4, package: ...", a line
// "MPICH Version: 4.0.2", or "MPI VERSION : CRAY MPICH version 8.1.25".
func versionIn(said string) string {
	line, _, _ := strings.Cut(said, "\n")
	line, _, _ = strings.Cut(line, ",")
	var words []string
	for _, w := range strings.Fields(strings.ToValidUTF8(line, "?")) {
		switch {
		case w == "Version:" || strings.HasSuffix(w, ":"):
			if w == ":" {
				words = nil // in front of it is that a version follows
			}
			continue
		case len(w) > 1 && w[0] == 'v' && '0' <= w[1] && w[1] <= '9':
			w = w[1:]
		}
		words = append(words, w)
	}
	v := strings.Join(words, " ")
	return v[:min(len(v), maxName)]
}

// World returns MPI_COMM_WORLD.
func (l *Library) World() *Communicator { return l.communicator(l.world) }

// add adds an image that may belong to the library.
func (l *Library) add(x snapshot.Image) {
	if _, has := x.Address("PMPI_Comm_rank"); has && l.machine.image == nil {
		l.machine.image = x
	}
	l.images = append(l.images, x)
}

// Handles of MPICH (mpi.h of MPICH).
const (
	worldOfMPICH   = 0x44000000
	directComm     = 0x84000000 // of the communicators that MPICH has room for at first
	indirectComm   = 0xc4000000 // of the others
	nullOfRequests = 0x2c000000
	opOfMPICH      = 0x58000000
)

// Bounds of the search for a communicator by its context.
const (
	maxDirect   = 8
	maxIndirect = 1000
	maxFree     = 16 // unused handles in a row, after which none is expected
)

// object returns the address of an object of the library by its symbol; 0: there is none. The program is looked
// through first: one that is not position independent has copies of objects of libraries.
func (l *Library) object(name string) uint64 {
	addr, known := l.objects[name]
	if known {
		return addr
	}
	for _, x := range l.images {
		if at, ok := x.Address(name); ok {
			addr = at
			break
		}
	}
	l.objects[name] = addr
	return addr
}

// maxMembers bounds the members of a communicator whose world ranks are asked for.
const maxMembers = 1 << 16

// group asks a function that stores a group for a handle.
func (l *Library) group(function string, handle uint64) (group uint64, loads []emulator.Load, err error) {
	at := l.machine.Alloc(8)
	if loads, err = l.machine.ask(function, handle, at); err != nil {
		return 0, nil, err
	}
	group, _ = l.machine.Uint(at, l.Family.handleBytes())
	return group, loads, nil
}

// members returns the world ranks of the group that a function stores for a handle.
func (l *Library) members(function string, handle uint64) ([]int, error) {
	group, _, err := l.group(function, handle)
	if err != nil {
		return nil, err
	}
	return l.inWorld(group)
}

// inWorld returns the world ranks of the members of a group; -1 for members that are not in MPI_COMM_WORLD.
func (l *Library) inWorld(group uint64) ([]int, error) {
	world, _, err := l.group("PMPI_Comm_group", l.world)
	if err != nil {
		return nil, err
	}
	size, _, err := l.machine.number("PMPI_Group_size", group)
	if err != nil {
		return nil, err
	}
	if size < 1 || size > maxMembers {
		return nil, fmt.Errorf("group of %d members", size)
	}
	from, to := l.machine.Alloc(4*size), l.machine.Alloc(4*size)
	for n := range uint64(size) {
		l.machine.PutUint(from+4*n, n, 4)
	}
	if _, err := l.machine.ask("PMPI_Group_translate_ranks", group, uint64(size), from, world, to); err != nil {
		return nil, err
	}
	ranks := make([]int, size)
	for n := range ranks {
		v, _ := l.machine.Uint(to+4*uint64(n), 4)
		if ranks[n] = int(int32(v)); ranks[n] < 0 { // MPI_UNDEFINED
			ranks[n] = -1
		}
	}
	return ranks, nil
}
