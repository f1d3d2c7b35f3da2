// Functions of a library, called in the emulator.

package mpi

import (
	"encoding/binary"
	"fmt"

	"sdm/backend/probe/internal/emulator"
	"sdm/backend/probe/internal/snapshot"
)

// machine calls functions of a library by name in the emulator, which has the memory of the process.
type machine struct {
	*emulator.Machine
	image snapshot.Image // that has the functions
}

// linked implements emulator.Process.
type linked struct {
	*snapshot.Process
	cache *Cache
}

// Code implements emulator.Process.
func (l linked) Code(addr uint64) *emulator.Code {
	x := l.At(addr)
	if x == nil {
		return nil
	}
	m := x.Module()
	return &emulator.Code{First: m.First, End: m.End, Bias: m.Bias, Instructions: l.cache.instructions(m.Key())}
}

// Link implements emulator.Process.
func (l linked) Link(slot uint64) string {
	if x := l.At(slot); x != nil {
		return x.Link(slot)
	}
	return ""
}

// Function implements emulator.Process.
func (l linked) Function(name string) uint64 {
	for _, x := range l.Images {
		if at, ok := x.Address(name); ok {
			return at
		}
	}
	return 0
}

// ask calls a function. It returns what the function has read, and an error if its result is not MPI_SUCCESS.
func (m machine) ask(function string, args ...uint64) ([]emulator.Load, error) {
	at, ok := m.image.Address(function)
	if !ok {
		return nil, fmt.Errorf("no %s in %s", function, m.image.Module().Name())
	}
	result, loads, err := m.Call(at, args...)
	if err == nil && uint32(result) != 0 {
		err = fmt.Errorf("%s returns %d", function, int32(result))
	}
	return loads, err
}

// until calls a function until it calls one of the named functions of other images, and returns the arguments of
// that call.
func (m machine) until(names []string, function string, args ...uint64) ([6]uint64, bool) {
	at, ok := m.image.Address(function)
	if !ok {
		return [6]uint64{}, false
	}
	p, err := m.CallUntil(names, at, args...)
	m.Undo()
	return p.Args, err == nil
}

// number asks a function that stores an int for a handle.
func (m machine) number(function string, handle uint64) (int, []emulator.Load, error) {
	out := m.Alloc(8)
	loads, err := m.ask(function, handle, out)
	v, _ := m.Uint(out, 4)
	return int(int32(v)), loads, err
}

// maxName is more than the longest name of an object (MPI_MAX_OBJECT_NAME: 64 to 128), in bytes.
const maxName = 512

// name asks a function that stores a name and its length for a handle.
func (m machine) name(function string, handle uint64) (string, []emulator.Load, error) {
	text, length := m.Alloc(maxName), m.Alloc(8)
	loads, err := m.ask(function, handle, text, length)
	if err != nil {
		return "", loads, err
	}
	return m.Text(text), loads, nil
}

// objectOf returns the address of the object of a handle of MPICH; 0: not known. It is the object that begins with
// the handle among those that a function reads when it is called with the handle.
func (m machine) objectOf(function string, handle uint64) uint64 {
	loads, _ := m.ask(function, handle) // an error after the object was read does not matter
	const most = 64                     // bytes into an object that the function reads
	for _, load := range loads {
		for back := uint64(0); back <= most && !load.IsOwn(); back += 4 {
			if v, ok := m.Uint(load.Addr-back, 4); ok && v == handle {
				return load.Addr - back
			}
		}
	}
	return 0
}

// hex formats a number in memory; "": it cannot be read.
func (m machine) hex(addr uint64, size int) string {
	v, ok := m.Uint(addr, size)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%x", v)
}

// pointers returns the words of size bytes of memory; nil: they cannot be read.
func (m machine) pointers(at uint64, size int) []uint64 {
	b := make([]byte, size)
	if at < 1<<16 || at&7 != 0 || at>>47 != 0 || !m.Read(at, b) {
		return nil
	}
	return wordsOf(b)
}

// wordsOf returns the words of some bytes.
func wordsOf(b []byte) []uint64 {
	all := make([]uint64, len(b)/8)
	for i := range all {
		all[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return all
}
