package main

import (
	"fmt"
	"os/exec"

	"sdm/launch"
)

// checkProgram says why a program cannot run where the master is a process of
// the servers' own job: MPI_Init waits for every process of the job, the master
// among them, which never calls it. nil for programs without MPI, and where the
// file cannot be read from here.
func checkProgram(program string, size int) error {
	path, err := exec.LookPath(program)
	if err != nil || !launch.LinksMPI(path) {
		return nil
	}
	return fmt.Errorf("%s is an MPI program, and the starter counts the master as one of its %d processes: "+
		"MPI_Init would wait for it for ever (start the master by itself, and give the starter's line the %d servers alone: "+
		"mpirun -n %d sdm-server --rendezvous HOST:PORT -- %s)", program, size, size-1, size-1, program)
}
