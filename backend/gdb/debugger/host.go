// What a rank asks about its process and its files.

package debugger

import (
	"errors"

	"sdm/backend/gdb/inferior"
)

// Host answers questions about the process and the files of a rank. A nil function has no answer.
type Host struct {
	// Source reads lines of a source file, from 1 on.
	Source func(file string, first, last int) ([]string, error)
	// Newer reports whether a source was changed after the file with the code at an
	// address was compiled.
	Newer func(source string, addr uint64) bool
	// Bare names the program if it has no debugging symbols.
	Bare func() string
	// MPI reports whether a process has an MPI library, or was linked with a static
	// one.
	MPI func(pid int) bool
	// Libraries returns the address ranges of the libraries of a process.
	Libraries func(pid int) []inferior.Span
	// PendsStop reports whether a SIGSTOP is pending for a thread of a process.
	PendsStop func(pid int, thread string) bool
}

// errNoSource is the answer where sources are not read.
var errNoSource = errors.New("sources are not read")

// lines reads lines of a source file.
func (h Host) lines(file string, first, last int) ([]string, error) {
	if h.Source == nil {
		return nil, errNoSource
	}
	return h.Source(file, first, last)
}

// spans returns the address ranges of the libraries of a process.
func (h Host) spans(pid int) []inferior.Span {
	if h.Libraries == nil {
		return nil
	}
	return h.Libraries(pid)
}
