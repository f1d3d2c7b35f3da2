// Jobs of starters on this host.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// startOpenMPI starts a job of Open MPI 4. MPIR tells its ranks without any command.
func startOpenMPI(b *bench) *known {
	if !b.hasStarter() {
		return nil
	}
	return b.startKnown(starter, compiler, "MPIR")
}

// startMPICH starts a job of MPICH, whose starter has no MPIR where it is stripped, and no list of
// its ranks: pgrep finds them.
func startMPICH(b *bench) *known {
	const starter, compiler = "mpiexec.mpich", "mpicc.mpich"
	for _, name := range []string{starter, compiler} {
		if _, err := exec.LookPath(name); err != nil {
			b.progress("left out: %v", err)
			return nil
		}
	}
	k := b.startKnown(starter, compiler, "no MPIR")
	k.lists = byName("mpiwait.mpich")
	return k
}

// byName is the list of the ranks of a launcher that has none: users look for the program.
func byName(program string) [][]string {
	if _, err := exec.LookPath("pgrep"); err != nil {
		return nil
	}
	return [][]string{{"pgrep", "-x", program}}
}

// startKnown starts an MPI job.
func (b *bench) startKnown(starter, compiler, note string) *known {
	top, pids, end := b.startMPI(starter, compiler)
	return &known{what: fmt.Sprintf("sdm attach PID of %s, %d ranks, %s", starter, attachRanks, note),
		target: strconv.Itoa(top), nodes: here(pids), env: b.starterEnv(), end: end}
}

// startTorchrun starts a job of the stand-in for torchrun, which has no list of its workers: pgrep finds them.
func startTorchrun(b *bench) *known {
	spin := b.compile("spin")
	id := fmt.Sprintf("bench%d", os.Getpid())
	agent := exec.Command("testdata/torchrun/torchrun", "--no_python", "--nproc_per_node", strconv.Itoa(attachRanks), "--rdzv_id", id, spin)
	if err := agent.Start(); err != nil {
		fatal("torchrun", err)
	}
	var pids []int
	waitUntil("workers of torchrun", func() bool {
		pids = named(family(agent.Process.Pid), "spin")
		return len(pids) == attachRanks
	})
	return &known{what: fmt.Sprintf("sdm attach torchrun:ID, %d workers, a stand-in", attachRanks), target: "torchrun:" + id, nodes: here(pids), lists: byName("spin"), end: func() {
		agent.Process.Signal(os.Interrupt)
		agent.Wait()
	}}
}
