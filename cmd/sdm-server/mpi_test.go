package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"sdm/cmd/internal/check/programs"
	"sdm/master/registration"
	"sdm/protocol"
	"sdm/tree/overlay"
	"sdm/tree/overlay/overlaytest"
)

const summing = `#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
	int rank, size, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d, sum %d\n", rank, size, sum);
	MPI_Finalize();
	return 0;
}
`

// TestSlotsOfRealStarters lets mpirun and mpiexec start servers in the slots of ranks. The ranks
// run under gdb and must still find their job.
func TestSlotsOfRealStarters(t *testing.T) {
	starters := []struct{ name, compiler, starter string }{
		{"Open MPI", "mpicc.openmpi", "mpirun.openmpi"},
		{"MPICH", "mpicc.mpich", "mpiexec.mpich"},
	}
	env, err := programs.Environment()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range starters {
		t.Run(s.name, func(t *testing.T) {
			program := compileWith(t, s.compiler, summing)
			path, key := secretFile(t, "s")
			door, err := overlaytest.Rendezvous(key)
			if err != nil {
				t.Fatal(err)
			}
			defer door.Close()
			cmd := exec.Command(s.starter, "-n", "3", os.Args[0], "--rendezvous", door.Addr(),
				"--session", "s", "--secret-file", path, "--backend", "gdb", "--", program)
			cmd.Env = serverEnv(env...)
			var text strings.Builder
			cmd.Stdout, cmd.Stderr = &text, &text
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			table, err := registration.Slots{}.Collect(soon(t), door)
			if err != nil {
				t.Fatal(err)
			}
			d := newDebugging(t, dialer(key, overlay.Identity{Session: "s"}), table.Routes, 1)
			d.do("launch", protocol.Args{Job: &protocol.Job{}, Limit: -1})
			d.stopped(3)
			d.do("continue", protocol.Args{})
			d.ended(3)
			for r := range 3 {
				if want := fmt.Sprintf("rank %d of 3, sum 3\n", r); !strings.Contains(d.output(), want) {
					t.Errorf("%q is not in %q", want, d.output())
				}
			}
			if err := d.close(); err != nil {
				t.Error(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the starter: %v\n%s", err, text.String())
			}
			gone(t, d.pids()...)
		})
	}
}
