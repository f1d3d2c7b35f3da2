// Communicators, datatypes and operations, as the library describes them.

package mpi

import (
	"fmt"
	"slices"
	"strings"

	"sdm/backend/probe/internal/emulator"
)

// Communicator is a communicator as its library describes it.
type Communicator struct {
	Name   string
	Rank   int   // of the process in it
	World  []int // world ranks of its members, in order; -1 for members in other jobs
	Remote []int // world ranks of the remote group of an intercommunicator; nil: it is none
	// Context is the same in all members, and differs between communicators with the same members; "":
	// not known.
	Context string
	Err     error // why nothing is known; the rest is valid if it is nil

	handle uint64
	ids    [2]uint64 // context IDs of MPICH in messages that it sends, and in those that it receives
}

// String returns the name of a communicator, or its size.
func (c *Communicator) String() string {
	if c.Name == "" {
		return fmt.Sprintf("a communicator of %d", len(c.World))
	}
	return c.Name
}

// peers returns the world ranks of the members to which messages are sent, by their rank in the group.
func (c *Communicator) peers() []int {
	if c.Remote != nil {
		return c.Remote
	}
	return c.World
}

// IsOpen reports whether a communicator has members that are not in MPI_COMM_WORLD: processes that were
// spawned, have spawned this one, or are connected.
func (c *Communicator) IsOpen() bool {
	return c.Err == nil && (slices.Contains(c.World, -1) || slices.Contains(c.Remote, -1))
}

// worldRank returns the world rank of a peer; ok is false if there is no such peer, or if it is not in MPI_COMM_WORLD.
func (c *Communicator) worldRank(peer int) (rank int, ok bool) {
	if all := c.peers(); c.Err == nil && peer >= 0 && peer < len(all) && all[peer] >= 0 {
		return all[peer], true
	}
	return 0, false
}

// isSame reports whether communicators of two processes are the same: disjoint ones may share a
// context.
func (c *Communicator) isSame(d *Communicator) bool {
	return c.Err == nil && d.Err == nil && c.Context != "" && c.Key() == d.Key()
}

// Key returns a text that is the same in all members, and differs for other communicators.
func (c *Communicator) Key() string {
	first, second := c.Groups()
	return fmt.Sprint(c.Context, first, second)
}

// Groups returns the world ranks of both groups of an intercommunicator, in an order that is the same in all members;
// second is nil if it is none.
func (c *Communicator) Groups() (first, second []int) {
	if c.Remote != nil && slices.Compare(c.Remote, c.World) < 0 { // the other side sees the groups exchanged
		return c.Remote, c.World
	}
	return c.World, c.Remote
}

// communicator returns what the library says of a handle. The library itself checks the handle.
func (l *Library) communicator(handle uint64) *Communicator {
	c := l.comms[handle]
	if c == nil {
		c = &Communicator{handle: handle}
		l.comms[handle] = c
		c.Err = l.describe(c, handle)
	}
	return c
}

// describe asks the library about a communicator.
func (l *Library) describe(c *Communicator, handle uint64) error {
	rank, loads, err := l.machine.number("PMPI_Comm_rank", handle)
	if err != nil {
		return err
	}
	c.Rank = rank
	field := l.fieldOf(loads, uint32(rank), handle)
	size, _, err := l.machine.number("PMPI_Comm_size", handle)
	if err != nil {
		return err
	}
	if size < 1 || size > maxMembers || rank < 0 || rank >= size {
		return fmt.Errorf("rank %d of %d", rank, size)
	}
	if inter, _, err := l.machine.number("PMPI_Comm_test_inter", handle); err == nil && inter != 0 {
		if c.Remote, err = l.members("PMPI_Comm_remote_group", handle); err != nil {
			return err
		}
	}
	name, named, err := l.machine.name("PMPI_Comm_get_name", handle)
	if err != nil {
		return err
	}
	c.Name = name
	if handle == l.world { // its ranks are the world ranks
		for n := range size {
			c.World = append(c.World, n)
		}
	} else if c.World, err = l.members("PMPI_Comm_group", handle); err != nil {
		return err
	}
	if len(c.World) != size {
		return fmt.Errorf("group of %d of %d members", len(c.World), size)
	}
	c.Context = l.context(c, handle, field, named)
	return nil
}

// fieldOf returns the address of the field of an object with a value v of 4 bytes that was loaded last; 0: there
// is none. An object of MPICH begins with its handle, which distinguishes it from other data.
func (l *Library) fieldOf(loads []emulator.Load, v uint32, handle uint64) (addr uint64) {
	for _, load := range loads {
		if load.Size == 4 && uint32(load.Value) == v && !load.IsOwn() && (l.Family != MPICH || l.follows(load.Addr, handle)) {
			addr = load.Addr
		}
	}
	return addr
}

// follows reports whether an address is in the 256 bytes after a handle of MPICH.
func (l *Library) follows(addr, handle uint64) bool {
	const most = 256 // bytes of an object before its rank
	for back := uint64(4); back <= most; back += 4 {
		if v, ok := l.machine.Uint(addr-back, 4); ok && v == handle {
			return true
		}
	}
	return false
}

// context returns Communicator.Context. field is the address at which the communicator has its rank; named are
// the reads of memory when its name was asked for.
func (l *Library) context(c *Communicator, handle, field uint64, named []emulator.Load) string {
	switch {
	case l.Family == MPICH && field != 0: // two words before the rank
		return l.pair(c, field-8)
	case l.Family == OpenMPI && !l.hasSessions() && field > handle: // the word before the rank
		return l.machine.hex(field-4, 4)
	case l.Family == OpenMPI && l.hasSessions():
		return l.extended(c, handle, field, named)
	}
	return ""
}

// pair returns the context of a communicator of MPICH: two numbers of 16 bits, since release 5 of 32
// bits. Members of the other group of an intercommunicator have them exchanged; otherwise they are equal.
func (l *Library) pair(c *Communicator, addr uint64) string {
	first, ok := l.machine.Uint(addr, 4)
	second, ok2 := l.machine.Uint(addr+4, 4)
	switch {
	case !ok || !ok2:
		return ""
	case first>>16 != 0:
		c.ids = [2]uint64{first & 0xffff, first >> 16}
	case first != 0:
		c.ids = [2]uint64{first, second}
	case c.handle != l.world: // only MPI_COMM_WORLD has 0
		return ""
	}
	switch {
	case c.ids[0] == c.ids[1]:
		return fmt.Sprintf("%x", c.ids[0])
	case c.Remote == nil:
		return ""
	}
	return fmt.Sprintf("%x.%x", min(c.ids[0], c.ids[1]), max(c.ids[0], c.ids[1]))
}

// hasSessions reports whether an Open MPI is of release 5 or later, which has instances.
func (l *Library) hasSessions() bool {
	return l.object("ompi_mpi_instance_null") != 0 || l.object("ompi_instance_null") != 0
}

// extended returns the context of Open MPI 5 and later: the two words after the pointer to the name. The offset
// of that pointer is determined when the name of MPI_COMM_WORLD is asked for.
func (l *Library) extended(c *Communicator, handle, field uint64, named []emulator.Load) string {
	if handle == l.world {
		for _, load := range named {
			if load.Size == 8 && load.Addr > handle && load.Addr < field && load.Value != 0 && l.machine.Text(load.Value) == c.Name {
				l.nameField = load.Addr - handle
			}
		}
	} else {
		l.communicator(l.world)
	}
	if l.nameField == 0 {
		return ""
	}
	first, second := l.machine.hex(handle+l.nameField+8, 8), l.machine.hex(handle+l.nameField+16, 8)
	if first == "" || second == "" {
		return ""
	}
	return first + "." + second
}

// byContext returns the communicator of MPICH with a context ID of messages; nil: it is not among those that are
// examined.
func (l *Library) byContext(id uint64) *Communicator {
	if l.contexts == nil {
		l.contexts = map[uint64]*Communicator{}
		l.addContexts(worldOfMPICH, 1)
		l.addContexts(directComm, maxDirect)
		l.addContexts(indirectComm, maxIndirect)
	}
	return l.contexts[id]
}

// addContexts adds the communicators with the handles from first on, at most most, until maxFree handles in a
// row are not in use.
func (l *Library) addContexts(first, most uint64) {
	free := 0
	for h := first; h < first+most && free < maxFree; h++ {
		c := l.communicator(h)
		if c.Err != nil {
			free++
			continue
		}
		free = 0
		for _, id := range c.ids {
			if c.Context != "" && l.contexts[id] == nil {
				l.contexts[id] = c
			}
		}
	}
}

// Type is a datatype.
type Type struct {
	Name  string // "": it has none
	Bytes int
	Err   error
}

// Type returns what the library says of a datatype.
func (l *Library) Type(handle uint64) *Type {
	t := l.types[handle]
	if t == nil {
		t = &Type{}
		l.types[handle] = t
		if t.Bytes, _, t.Err = l.machine.number("PMPI_Type_size", handle); t.Err == nil {
			t.Name, _, t.Err = l.machine.name("PMPI_Type_get_name", handle)
		}
	}
	return t
}

// String returns the name of a datatype, or its size.
func (t *Type) String() string {
	if t.Name == "" {
		return fmt.Sprintf("a type of %d bytes", t.Bytes)
	}
	return t.Name
}

// operations are the built-in operations of MPICH in the order of their handles (mpi.h of MPICH).
var operations = []string{"NULL", "MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC", "REPLACE", "NO_OP"}

// Operation returns the name of a built-in operation; "": it is another one.
func (l *Library) Operation(handle uint64) string {
	if l.Family == MPICH {
		if n := handle - opOfMPICH; n < uint64(len(operations)) {
			return "MPI_" + operations[n]
		}
		return ""
	}
	if l.ops == nil {
		l.ops = map[uint64]string{}
		for _, name := range operations {
			if at := l.object("ompi_mpi_op_" + strings.ToLower(name)); at != 0 {
				l.ops[at] = "MPI_" + name
			}
		}
	}
	return l.ops[handle]
}
