// Queries of a rank about its process and its files.

package debugger

import (
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/values"
)

// Host answers questions about the process and the files of a rank. A nil function has no answer.
type Host struct {
	values.Sources
	// MPI reports whether a process has an MPI library, or was linked with a static
	// one.
	MPI func(pid int) bool
	// Libraries returns the address ranges of the libraries of a process.
	Libraries func(pid int) []inferior.Span
	// PendsStop reports whether a SIGSTOP is pending for a thread of a process.
	PendsStop func(pid int, thread string) bool
	// WhyRefused returns why a process cannot be attached to, with what to do.
	WhyRefused func(pid int) string
	// LeaderEnded reports whether only the first thread of a process has ended.
	LeaderEnded func(pid int) bool
}

// mpi reports whether a process has an MPI library.
func (h Host) mpi(pid int) bool { return h.MPI != nil && h.MPI(pid) }

// spans returns the address ranges of the libraries of a process.
func (h Host) spans(pid int) []inferior.Span {
	if h.Libraries == nil {
		return nil
	}
	return h.Libraries(pid)
}

// pendsStop reports whether a SIGSTOP is pending for a thread of a process.
func (h Host) pendsStop(pid int, thread string) bool {
	return h.PendsStop != nil && h.PendsStop(pid, thread)
}
