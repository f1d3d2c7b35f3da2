package sentinel

import (
	"fmt"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

func TestCause(t *testing.T) {
	end := func(first, last rank.ID, x protocol.Exit) Ending {
		return Ending{Ranks: rank.Range(first, last), Exit: x}
	}
	segv := protocol.Exit{Signal: "SIGSEGV", Meaning: "segmentation fault"}
	term, kill := protocol.Exit{Signal: "SIGTERM"}, protocol.Exit{Signal: "SIGKILL"}
	unknown := protocol.Exit{Unknown: true}
	for _, c := range []struct {
		name string
		ends []Ending
		end  End
		want string // kind, ranks, text; "": the job has ended by itself
	}{
		{"a normal end", []Ending{end(0, 3, protocol.Exit{})}, End{Status: 0}, ""},
		{"all ranks end with one exit code", []Ending{end(0, 3, protocol.Exit{Code: 3})}, End{Status: 3}, ""},
		{"a running job whose end is not known", []Ending{end(0, 3, unknown)}, End{Status: -1}, ""},
		{"a crash", []Ending{end(2, 2, segv), end(0, 1, term), end(3, 3, term)}, End{Status: 139},
			"crash 2: rank 2 was ended by SIGSEGV (segmentation fault)"},
		{"a crash that is noticed late", []Ending{end(0, 1, kill), end(2, 3, segv)}, End{Status: -1},
			"crash 2-3: ranks 2-3 were ended by SIGSEGV (segmentation fault)"},
		{"crashes of several kinds", []Ending{end(2, 2, segv), end(0, 0, term), end(1, 1, protocol.Exit{Signal: "SIGABRT"}), end(3, 3, segv)}, End{Status: 139},
			"crash 1-3: ranks 2-3 were ended by SIGSEGV (segmentation fault), and rank 1 by SIGABRT"},
		{"a crash of a job that was cancelled", []Ending{end(2, 2, segv)}, End{Status: 139, Asked: true}, ""},
		{"a kill", []Ending{end(1, 1, kill), end(0, 0, term)}, End{Status: 137},
			"crash 1: rank 1 was ended by SIGKILL, which the kernel sends when memory is short"},
		{"a kill with MPICH", []Ending{end(1, 1, kill), end(0, 0, kill)}, End{Status: 9},
			"crash 1: rank 1 was ended by SIGKILL, which the kernel sends when memory is short"},
		{"an abort with MPICH, whose output is not a file", []Ending{end(2, 2, kill), end(0, 1, kill)}, End{Status: 14},
			"abort : a rank has aborted the job, by MPI_Abort or MPI's error handler: the starter has killed all ranks, and the starter's exit status is 14"},
		{"an end with a code that is noticed late", []Ending{end(0, 0, kill), end(1, 1, protocol.Exit{Code: 3})}, End{Status: 3},
			"abort 1: rank 1 has ended with exit code 3, which is that of the starter, and rank 0 by SIGKILL"},
		{"an end with another code after the others", []Ending{end(0, 0, term), end(1, 1, protocol.Exit{Code: 3})}, End{Status: 143}, ""},
		{"a job that is ended from outside", []Ending{end(0, 3, term)}, End{Status: 143}, ""},
		{"a job that is ended from outside, and only the starter knows", []Ending{end(0, 3, unknown)}, End{Status: 143}, ""},
		{"MPI_Abort with Open MPI", []Ending{end(0, 3, unknown)}, End{Status: 3, Tail: "x\nMPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n"},
			"abort 2: rank 2 has called MPI_Abort, and the starter's exit status is 3"},
		{"MPI_Abort with MPICH", nil, End{Status: 3, Tail: "Abort(3) on node 2 (rank 2 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 2\n"},
			"abort 2: rank 2 has called MPI_Abort, and the starter's exit status is 3"},
		{"MPI_Abort with MPICH, known ranks", []Ending{end(0, 3, unknown)}, End{Status: 3, Tail: "application called MPI_Abort(MPI_COMM_WORLD, 3) - process 2\napplication called MPI_Abort(comm=0x84000002, 3) - process 99999999999\n"},
			"abort 2: rank 2 has called MPI_Abort, and the starter's exit status is 3"},
		{"the error handler of Open MPI", []Ending{end(0, 3, unknown)}, End{Status: 15, Tail: `[vm:12] *** An error occurred in MPI_Recv
[vm:13] *** An error occurred in MPI_Send
[vm:12] *** reported by process [1136590849,1]
[vm:12] *** on communicator MPI_COMM_WORLD
[vm:13] *** reported by process [1136590849,2]
[vm:13] *** on communicator my solver
[vm:12] *** MPI_ERR_TRUNCATE: message truncated
[vm:13] *** MPI_ERR_RANK: invalid rank
[vm:12] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
[vm:12] ***    and potentially your MPI job)
[vm:13] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,
[vm:13] ***    and potentially your MPI job)
`}, "abort 1-2: rank 1 was ended by MPI's error handler in MPI_Recv (MPI_ERR_TRUNCATE: message truncated), and rank 2 in MPI_Send (MPI_ERR_RANK: invalid rank), and the starter's exit status is 15"},
		{"an error that a program handles", []Ending{end(0, 3, unknown)}, End{Status: 3, Tail: "*** An error occurred in the solver\n*** and it was mended\n"}, ""},
		{"Open MPI before MPI_Init", []Ending{end(1, 1, protocol.Exit{Code: 1}), end(0, 0, term)}, End{Status: 1, Tail: "*** The MPI_Comm_rank() function was called before MPI_INIT was invoked.\n*** This is disallowed by the MPI standard.\n"},
			"abort 1: rank 1 was ended by MPI's error handler in MPI_Comm_rank (it was called before MPI_INIT), and the starter's exit status is 1"},
		{"the error handler of MPICH", []Ending{end(0, 3, unknown)}, End{Status: 14, Tail: `[1] Abort(604119054) on node 1 (rank 1 in comm 0): Fatal error in internal_Recv: Message truncated, error stack:
[1] internal_Recv(127): MPI_Recv(buf=0x7ffebe55d520, count=10, MPI_INT, 0, 7, MPI_COMM_WORLD, status=0x1) failed
[1] (unknown)(): Message truncated
`}, "abort 1: rank 1 was ended by MPI's error handler in MPI_Recv (Message truncated), and the starter's exit status is 14"},
		{"the error handler of MPICH, of another class", []Ending{end(0, 3, unknown)}, End{Status: -1, Tail: `Abort(1) on node 99 (rank 9 in comm 0): Fatal error in PMPI_Send: Invalid rank
Abort(1) on node 2: Fatal error in PMPI_Bcast: Other MPI error, error stack:
PMPI_Bcast(1600)......................: MPI_Bcast(buf=0x1, count=1) failed
MPIR_Bcast_intra_binomial(1).: message sizes do not match across processes: 4 ` + "\x1b[31m" + `of 8
[vm] bye
`}, "abort 2: rank 2 was ended by MPI's error handler in MPI_Bcast (message sizes do not match across processes: 4 [31mof 8)"},
		{"MPICH before MPI_Init", nil, End{Status: 1, Tail: "Attempting to use an MPI routine (internal_Comm_rank) before initializing or after finalizing MPICH\n"},
			"abort : a rank was ended by MPI's error handler in MPI_Comm_rank (it was called before initializing or after finalizing), and the starter's exit status is 1"},
		{"an end with a code before the others", []Ending{end(1, 1, protocol.Exit{Code: 4}), end(0, 0, kill)}, End{Status: 4},
			"abort 1: rank 1 has ended with exit code 4, by MPI_Abort or otherwise, and the starter has ended the others"},
		{"ends with several codes", []Ending{end(1, 1, protocol.Exit{Code: 4}), end(2, 2, protocol.Exit{Code: 1}), end(3, 3, protocol.Exit{Code: 4}), end(0, 0, kill)}, End{Status: 4},
			"abort 1,3: ranks 1,3 have ended with exit code 4, by MPI_Abort or otherwise, and the starter has ended the others"},
		{"only the starter knows", []Ending{end(2, 2, unknown), end(0, 1, unknown)}, End{Status: 139},
			"crash 2: the starter's exit status 139 tells of SIGSEGV; rank 2 has ended first"},
		{"no rank was watched", nil, End{Status: 134}, "crash : the starter's exit status 134 tells of SIGABRT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ranks rank.Set
			for _, e := range c.ends {
				ranks = ranks.Union(e.Ranks)
			}
			r, ok := CauseOf(c.ends, ranks, c.end)
			got := ""
			if ok {
				got = fmt.Sprintf("%s %s: %s", r.Kind, r.Ranks, r.Text)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
