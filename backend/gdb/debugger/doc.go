// Package debugger decides what gdbs are told about ranks, and what their answers mean. It is pure:
// no I/O, no clock, no goroutines.
//
// A Machine knows the state of one rank. A Debugger knows the state of one gdb, which its machines may
// share. The host (package gdb) calls Start, Do, Record, Ended, Died, Missed, Tick and Close
// and executes the Effects of each machine. Through Host a machine asks it about processes and files. A
// target is what is debugged; gdb calls it an inferior. A call is one command to gdb, a request is one
// command of a user (package request). Package values shows the state of a stopped rank, package breakpoint
// has its breakpoints; both see the rank as an interface (view.go). Functions and types are used by one
// goroutine at a time.
//
// A Machine is a core and parts. The core (core.go, state.go, selection.go, request.go, threads.go) is what all parts
// share: it asks gdb, answers requests and reports events, and only state.go writes the state, the run and the
// selection. A part has the core and, as fields with names, the few other parts that it uses; NewMachine shows all of
// them. Calls run downwards:
//
//	Debugger, Machine        inputs and what follows them (inputs.go, admit.go, settle.go, tick.go)
//	moves, recovery          another gdb: at a handover, after the death of one
//	bringUp                  from the attach to the first stop
//	commands, lines          commands of users, lines for gdb itself
//	attachment, termination  the beginning and the end
//	runs, steps, stops       resumes, and what is told of stops
//	signals, symbols, …      parts that use the core only
//	core, GDB                what parts share, and what ranks of one gdb share
//
// What a lower part wants of a higher one it leaves in the core: a request that needs a gdb of its own (needsOwnGDB),
// one that can be executed now (ready). Machine.settle sees to that after each input.
//
// What goes on between a rank and its gdb is one value, its phase (phase.go). From each phase the rank may end.
//
//	attaching ─┬─→ held ─┬─────────────────────→ leaving ─→ ended
//	           ├─→ failed├─→ handing over ─┐     (if gdb refuses, it is again what it was)
//	           └─→ closing, then leaving   ↓
//	                     └─ gdb dies ─→ taking over ─→ held
//
// A target may die in each phase; how far that has come is its fate.
//
// A file with commands handles one rank and need not know whether its gdb is shared, if
// it follows these rules:
//
//   - Commands that look at a stopped rank begin with c.At(q), the thread and frame of the
//     request. Commands about a program or a process begin with c.here(), the rank. c.Where(q) is
//     the first for a stopped rank and the second otherwise. c.threadGroup is the name of the inferior
//     where that is an argument (-target-detach, -list-thread-groups).
//   - Thread numbers are sdm's, equal on all ranks: c.GDBThread(id) is gdb's number of a thread,
//     c.Thread(n) finds the thread of a number that gdb reports.
//   - Breakpoints are set by package breakpoint, which gives each a condition for this rank alone. -break-list also
//     lists the breakpoints of other ranks (c.points.Claimed).
//   - What gdb has once for all inferiors (signals, convenience variables, follow-fork-mode, …) is
//     changed only by the file that manages it, or is refused if c.GDB.Shared().
package debugger
