// Package probe provides the stacks of running ranks without a debugger, and what the ranks wait for. It has three
// calls:
//
//   - New makes a back end that answers stacks for ranks that run.
//   - WithWaits makes one of a debugger, to whose stacks it adds what the ranks wait for.
//   - CheckExpression tells whether samples can compare the value of an expression.
//
// # The way of a sample
//
// Each step names the package below internal, or the file of sampler, where it is. Only the third step holds processes.
//
//  1. Do puts the request into a queue; one goroutine carries out what is in it (probe.go). The arguments of the
//     command become sampler.Options (stacks.go), and Sampler.Take gets these and the process IDs of the ranks
//     (sampler.go).
//  2. Each process is looked at: its mappings, the images in them (image), its interpreter of Python (python). What
//     was found for the last sample is kept (known.go), and read again only if the mappings have changed. Images with
//     their tables and names are shared by all processes that have them (shared.go). A reading begins, which holds all
//     that this sample finds out about the process (reading.go).
//  3. All threads of all processes are stopped, and their registers and stacks are copied (hold), as are the states of
//     Python's threads, and the words for which threads wait. The processes run on, after about a millisecond.
//  4. The copied stacks are followed by the unwind tables of the images (unwind, cfi), or where there are none by what
//     the instructions say (derived). The result is a snapshot, on which the next steps look.
//  5. Calls that threads are in are found: of MPI, with what their arguments are (mpi, which asks argument, dataflow
//     and emulator), and of torch.distributed (torch).
//  6. Frames get names and lines (frames.go, names.go, symbol), and frames of Python are put among them (splice).
//  7. What the process waits for follows (waits.go): from the calls of its threads (mpiwaits.go, torch.go), or from
//     the system calls and locks in which they are (threads.go, kernelcall, which asks proc). If that was asked for,
//     so do the signs by which it is seen whether the process goes on (progress.go, expression, variable).
//  8. Take returns a Sample for each process. Of ranks that may wait for a process that they have started, these
//     processes are read too (children.go).
//  9. What a rank waits for is compared with its last sample. Then stacks are merged to one tree and waits to one
//     graph (stacks.go), columns tell what is no frame (columns.go), and the sink gets one group for all ranks that
//     were read. Ranks that could not be read get a fault each.
//
// Debugged goes this way from step 2 on for ranks that its debugger has stopped: threads that cannot be stopped once
// more are read as they are, with the registers that the debugger has told.
//
// A panic on the way costs one sample: all that is read is memory of a process, which may hold anything.
package probe
