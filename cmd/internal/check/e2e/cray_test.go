package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"sdm/launch/launchtest"
)

// shasta is a task prolog that gives each task the variables that Slurm's plugin mpi/cray_shasta
// (release 23.02) gives it, which no machine but a Cray can load: PMI_JOBID without the step, and no
// PMI_FD.
const shasta = `#!/bin/sh
cat <<END
export PALS_APID=$SLURM_JOB_ID.$SLURM_STEP_ID
export PALS_APINFO=/var/spool/slurmd/mpi_cray_shasta/$SLURM_JOB_ID.$SLURM_STEP_ID/apinfo
export PALS_LOCAL_RANKID=$SLURM_LOCALID
export PALS_NODEID=$SLURM_NODEID
export PALS_RANKID=$SLURM_PROCID
export PALS_SPOOL_DIR=/var/spool/slurmd/mpi_cray_shasta/$SLURM_JOB_ID.$SLURM_STEP_ID
export PMI_JOBID=$SLURM_JOB_ID
export PMI_LOCAL_RANK=$SLURM_LOCALID
export PMI_LOCAL_SIZE=$(echo $SLURM_GTIDS | tr , '\n' | wc -l)
export PMI_RANK=$SLURM_PROCID
export PMI_SIZE=$SLURM_NTASKS
export PMI_UNIVERSE_SIZE=$SLURM_NTASKS
export PMI_SHARED_SECRET=18446744073709551615
export PMI_CONTROL_PORT=20000
END
`

// craySrun has steps whose tasks have the environment of HPE Cray EX: one server a node in their
// slots, and one a node beside them, by the name of the step.
func craySrun(t *testing.T, s *scene, cluster *launchtest.Slurm) {
	step := []string{"-n4", "-N2", "--ntasks-per-node=2", "--mpi=none", "--task-prolog=" + s.file("shasta", shasta, 0o700)}
	line := append([]string{"run", "-b", "-e", "info hosts", "-e", "continue", "--", "srun"}, step...)
	front := &console{process: s.on(cluster.Hosts, 0, "sdm", append(line, program("hello"))...), size: 4}
	front.exits(0)
	front.says("server 0, ", "server 1, ")

	end := filepath.Join(s.dir, "end")
	job := s.on(cluster.Hosts, 0, "srun", append(step, "sh", "-c",
		fmt.Sprintf("[ $SLURM_PROCID != 0 ] || echo step $PALS_APID; while [ ! -e %s ]; do sleep 0.1; done; echo done $PMI_RANK", end))...)
	id := job.after(job.out, "step ")
	listening := &console{process: s.on(cluster.Hosts, 0, "sdm", "listen", "-b", "-e", "info hosts", "-e", "info threads", "-e", "detach", cluster.Address(0)+":0"), size: 4}
	addr, _, _ := strings.Cut(listening.after(listening.err, "start it with: sdm-master --connect "), " ")
	master := s.on(cluster.Hosts, 0, "sdm-master", "--connect", addr, "--rendezvous", cluster.Address(0)+":0", "--session", "cray")
	meet := master.after(master.err, "servers register at ")
	s.on(cluster.Hosts, 0, "srun", "--overlap", "--jobid="+strings.Split(id, ".")[0], "--mpi=none", "-N2", "-n2",
		program("sdm-server"), "--rendezvous", meet, "--session", "cray", "--jobid", id)
	listening.exits(0)
	listening.says("server 0, ", "server 1, ", "[0-3] detached\n")
	s.file("end", "", 0o600)
	job.exits(0)
	job.says("done 0\n", "done 3\n")
}
