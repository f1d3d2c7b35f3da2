// What a rank asks about its process and its files.

package gdb

import (
	"errors"

	"sdm/backend/gdb/inferior"
)

// host answers questions about the process and the files of a rank. A nil function has no answer.
type host struct {
	// source reads lines of a source file, from 1 on.
	source func(file string, first, last int) ([]string, error)
	// newer reports whether a source was changed after the file with the code at an
	// address was compiled.
	newer func(source string, addr uint64) bool
	// bare names the program if it has no debugging symbols.
	bare func() string
	// mpi reports whether a process has an MPI library, or was linked with a static
	// one.
	mpi func(pid int) bool
	// libraries returns the address ranges of the libraries of a process.
	libraries func(pid int) []inferior.Span
	// pendsStop reports whether a SIGSTOP is pending for a thread of a process.
	pendsStop func(pid int, thread string) bool
}

// errNoSource is the answer where sources are not read.
var errNoSource = errors.New("sources are not read")

// lines reads lines of a source file.
func (h host) lines(file string, first, last int) ([]string, error) {
	if h.source == nil {
		return nil, errNoSource
	}
	return h.source(file, first, last)
}

// spans returns the address ranges of the libraries of a process.
func (h host) spans(pid int) []inferior.Span {
	if h.libraries == nil {
		return nil
	}
	return h.libraries(pid)
}
