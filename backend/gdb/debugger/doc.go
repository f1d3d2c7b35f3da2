// Package debugger decides what gdbs are told about ranks, and what their answers mean. It is pure:
// no I/O, no clock, no goroutines.
//
// A Machine knows the state of one rank. A Debugger knows the state of one gdb, which its machines may
// share. The host (package gdb) calls Start, Do, Record, Ended, Died, Missed, Tick and Close
// and executes the Effects of each machine. Through Host a machine asks it about processes and files. A
// target is what is debugged; gdb calls it an inferior. A call is one command to gdb, a request is one
// command of a user (package request). Package values shows the state of a stopped rank. Functions and types
// are used by one goroutine at a time.
//
// A Machine has parts with their own state: attachment (until the rank is under control), runs and stops,
// abortWatch (MPI_Abort), breakCommands, watchCommands and actions (what happens at a breakpoint),
// termination, moves (to a gdb of its own), recovery (after the death of its gdb), settings (lines of gdb's
// command line) and symbols (libraries whose symbols have not been read). Each embeds its Machine.
//
// A file with commands handles one rank and need not know whether its gdb is shared, if
// it follows these rules:
//
//   - Commands that look at a stopped rank begin with m.At(q), the thread and frame of the
//     request. Commands about a program or a process begin with m.here(), the rank. m.Where(q) is
//     the first for a stopped rank and the second otherwise. m.group is the name of the inferior
//     where that is an argument (-target-detach, -list-thread-groups).
//   - Thread numbers are sdm's, equal on all ranks: m.GDBThread(id) is gdb's number of a thread,
//     m.Thread(n) finds the thread of a number that gdb reports.
//   - A breakpoint gets the condition m.breaks.only(condition), and m.breaks.mine translates gdb's report of one
//     to what it would be for the rank alone. -break-list also lists the breakpoints of other
//     ranks (m.points.claimed), and a command with an empty list of numbers applies to all.
//   - What gdb has once for all inferiors (signals, convenience variables, follow-fork-mode, …) is
//     changed only by the file that manages it, or is refused if m.GDB.Shared().
package debugger
