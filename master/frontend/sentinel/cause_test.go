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
		{"all is well", []Ending{end(0, 3, protocol.Exit{})}, End{Status: 0}, ""},
		{"a code of all", []Ending{end(0, 3, protocol.Exit{Code: 3})}, End{Status: 3}, ""},
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
		{"a job that somebody ends", []Ending{end(0, 3, term)}, End{Status: 143}, ""},
		{"a job that somebody ends, and only the starter knows", []Ending{end(0, 3, unknown)}, End{Status: 143}, ""},
		{"MPI_Abort with Open MPI", []Ending{end(0, 3, unknown)}, End{Status: 3, Tail: "x\nMPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n"},
			"abort 2: rank 2 has called MPI_Abort, and the starter's exit status is 3"},
		{"MPI_Abort with MPICH", nil, End{Status: 3, Tail: "Abort(3) on node 2 (rank 2 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 3) - process 2\n"},
			"abort 2: rank 2 has called MPI_Abort, and the starter's exit status is 3"},
		{"MPI_Abort with MPICH, known ranks", []Ending{end(0, 3, unknown)}, End{Status: 3, Tail: "application called MPI_Abort(MPI_COMM_WORLD, 3) - process 2\napplication called MPI_Abort(comm=0x84000002, 3) - process 99999999999\n"},
			"abort 2: rank 2 has called MPI_Abort, and the starter's exit status is 3"},
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
