package debugger

import "testing"

func TestPlainNames(t *testing.T) {
	for function, want := range map[string]string{
		"PMPI_Init": "MPI_Init", "MPI_Comm_rank": "MPI_Comm_rank", "pmpi_init__": "MPI_Init", "mpi_comm_split_": "MPI_Comm_split",
		"poll": "poll", "p": "p", "mpi_": "mpi_", "ompi_mpi_init": "ompi_mpi_init", "MPI::Init()": "MPI::Init()", "mpi_x<int>::f()": "mpi_x<int>::f()", "??": "??",
	} {
		if got := plainName(function); got != want {
			t.Errorf("%s: %s, want %s", function, got, want)
		}
	}
}
