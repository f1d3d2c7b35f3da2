// Windows and files.

package mpi

import (
	"fmt"
	"slices"

	"sdm/backend/probe/internal/emulator"
)

// owned is a window or a file.
type owned struct {
	function string // function of MPI that returns its group
	handle   uint64
}

// window returns the members of a window, with its name. The library itself checks the handle.
func (l *Library) window(handle uint64) *Communicator {
	return l.owner(owned{"PMPI_Win_get_group", handle}, func(c *Communicator) (err error) {
		c.Name, _, err = l.machine.name("PMPI_Win_get_name", handle)
		return err
	})
}

// file returns the members of a file.
func (l *Library) file(handle uint64) *Communicator {
	return l.owner(owned{"PMPI_File_get_group", handle}, func(*Communicator) error { return nil })
}

// at returns the object that a call is to release: the argument of the call is the address of its handle.
func (l *Library) at(k Kind, addr uint64) *Communicator {
	size := l.Family.handleBytes()
	if k == FileAt {
		size = 8
	}
	handle, ok := l.machine.Uint(addr, size)
	switch {
	case !ok:
		return &Communicator{Err: fmt.Errorf("no memory at %#x", addr)}
	case k == CommAt:
		return l.communicator(handle)
	case k == WindowAt:
		return l.window(handle)
	}
	return l.file(handle)
}

// owner returns the members of a window or a file.
func (l *Library) owner(o owned, name func(*Communicator) error) *Communicator {
	c := l.owners[o]
	if c == nil {
		c = &Communicator{}
		l.owners[o] = c
		if c.Err = l.own(c, o); c.Err == nil {
			c.Err = name(c)
		}
	}
	return c
}

// own asks the library for the group of a window or a file, and looks for the internal communicator that the
// window or file has. Its context distinguishes the window or file from others with the same members.
func (l *Library) own(c *Communicator, o owned) error {
	group, loads, err := l.group(o.function, o.handle)
	if err != nil {
		return err
	}
	loads = slices.Clone(loads)
	if c.Rank, _, err = l.machine.number("PMPI_Group_rank", group); err != nil {
		return err
	}
	if c.World, err = l.inWorld(group); err != nil {
		return err
	}
	for _, handle := range l.commsOf(o.handle, loads) {
		if inner := l.communicator(handle); inner.Err == nil && slices.Equal(inner.World, c.World) {
			c.Context = inner.Context
			break
		}
	}
	return nil
}

// commsOf returns possible handles of communicators: with MPICH among the words that the library has read for a
// group, with Open MPI among the words of the object.
func (l *Library) commsOf(object uint64, loads []emulator.Load) (handles []uint64) {
	if l.Family == OpenMPI {
		class := l.object("ompi_communicator_t_class")
		for at := object; at < object+maxOwner; at += 8 {
			if v, ok := l.machine.Uint(at, 8); ok && class != 0 && (openMPI{l}).class(v) == class {
				handles = append(handles, v)
			}
		}
		return handles
	}
	for _, load := range loads {
		v := load.Value
		if load.Size == 8 { // the object of a communicator begins with its handle
			v, _ = l.machine.Uint(v, 4)
		}
		if (load.Size == 4 || load.Size == 8) && isCommOfMPICH(v) && !slices.Contains(handles, v) {
			handles = append(handles, v)
		}
	}
	return handles
}

// maxOwner bounds the offset of the communicator in a window or file of Open MPI, in bytes.
const maxOwner = 768

// isCommOfMPICH reports whether a number has the form of the handle of a communicator: its highest two bits tell
// where the object is, and the next four that it is a communicator.
func isCommOfMPICH(v uint64) bool { return v>>32 == 0 && v>>30 != 0 && v>>26&15 == 1 }
