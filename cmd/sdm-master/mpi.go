// What the master knows of the job in which it runs itself.

package main

import (
	"fmt"
	"os/exec"
	"strings"

	"sdm/launch"
)

// checkProgram returns why a program cannot run if the master is a process of the servers' own job:
// MPI_Init waits for every process of the job, and the master never calls it. It returns nil for
// programs without MPI, and if the file cannot be read from here.
func checkProgram(program string, size int) error {
	path, err := exec.LookPath(program)
	if err != nil || !launch.LinksMPI(path) {
		return nil
	}
	return fmt.Errorf("%s is an MPI program, and the starter counts the master as one of its %d processes: "+
		"MPI_Init would wait for it for ever (start the master by itself, and give the starter's line the %d servers alone: "+
		"mpirun -n %d sdm-server --rendezvous HOST:PORT -- %s)", program, size, size-1, size-1, program)
}

// jobName returns the resource manager's ID of the job that the master is in: of its step, or else
// of the batch job.
func jobName(own launch.Identity, env []string) string {
	if own.Job != "" {
		return own.Job
	}
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); name == "SLURM_JOB_ID" || name == "PBS_JOBID" || name == "LSB_JOBID" {
			return value
		}
	}
	return ""
}
