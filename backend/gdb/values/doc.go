// Package values shows what a stopped rank holds: values, arrays, memory, displays, stacks, variables,
// threads, libraries and source lines. It is pure: it asks gdb through the rank, which is an interface
// here, and answers requests. A Values belongs to one rank and is used by its goroutine.
//
// A command begins with the request's thread and frame, At, or with its thread, Where; see Asker.
// Thread numbers are sdm's, equal on all ranks: GDBThread is gdb's number of one.
package values
