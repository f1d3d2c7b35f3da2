// Attaching to running jobs whose ranks must be found first, from the start of sdm.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// findTries is how often each way attaches, and workers how many ranks torchrun has.
const (
	findTries = 5
	workers   = 8
)

// benchTorchrun measures sdm attach torchrun:ID until all ranks have stopped. The workers are those
// of the stand-in for torchrun, which has no list of them: the floor is bare gdbs alone.
func benchTorchrun(b *bench) {
	b.progress("%d workers of a stand-in for torchrun, %d times each way", workers, findTries)
	spin := b.compile("spin")
	id := fmt.Sprintf("bench%d", os.Getpid())
	agent := exec.Command("testdata/torchrun/torchrun", "--no_python", "--nproc_per_node", strconv.Itoa(workers), "--rdzv_id", id, spin)
	if err := agent.Start(); err != nil {
		fatal("torchrun", err)
	}
	defer agent.Wait()
	defer agent.Process.Signal(os.Interrupt)
	var pids []int
	for until := time.Now().Add(10 * time.Second); len(pids) < workers; pids = named(family(agent.Process.Pid), "spin") {
		if time.Now().After(until) {
			fatal("torchrun", fmt.Errorf("%d of %d workers have come", len(pids), workers))
		}
	}
	b.find(fmt.Sprintf("sdm attach torchrun:ID, %d workers", workers), pids, []string{b.console()}, "torchrun:"+id, nil, limit{ratio: 1.3})
}

// find compares sdm attach TARGET with the launcher's own listing, unless that is nil, and bare gdbs
// that have as many ranks each as sdm's have.
func (b *bench) find(what string, pids []int, sdm []string, target string, listing func(), l limit) {
	line := append(sdm, "attach", "--no-rc", "--format", "ndjson", "-b", "-e", "ranks", target)
	c := compare(findTries, 1, func(int) time.Duration {
		return timeUntil(exec.Command(line[0], line[1:]...), `"command":"ranks"`)
	}, func(int) time.Duration {
		began := time.Now()
		if listing != nil {
			listing()
		}
		listed := time.Since(began)
		took, _ := attachByGDBs(pids, ranksPerGDB)
		return listed + took
	})
	b.table.add(row{what: what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: l})
}

// ranksPerGDB is how many ranks one bare gdb has here.
const ranksPerGDB = 2

// slurmAttach measures sdm attach slurm:JOB from the login node against sattach and bare gdbs.
func (b *bench) slurmAttach(name, dir string) {
	spin := b.compile("spin")
	env := append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "HOME="+dir)
	on := func(line ...string) *exec.Cmd {
		cmd := exec.Command("testdata/hosts/on", append([]string{name + "0"}, line...)...)
		cmd.Env = env
		return cmd
	}
	job := on("srun", "-n6", "-N3", "--mpi=none", spin)
	if err := job.Start(); err != nil {
		fatal("srun", err)
	}
	defer job.Wait()
	var id string
	for until := time.Now().Add(20 * time.Second); id == ""; {
		text, _ := on("squeue", "-h", "-s", "-o", "%i").Output() // empty until the step is there
		id = strings.TrimSpace(string(text))
		if time.Now().After(until) {
			fatal("srun", fmt.Errorf("its step has not come"))
		}
	}
	defer on("scancel", strings.Split(id, ".")[0]).Run()
	var pids []int
	for until := time.Now().Add(20 * time.Second); len(pids) < 6; {
		if text, err := exec.Command("pgrep", "-f", "^"+spin+"$").Output(); err == nil {
			pids = pids[:0]
			for _, word := range strings.Fields(string(text)) {
				pid, _ := strconv.Atoi(word)
				pids = append(pids, pid)
			}
		}
		if time.Now().After(until) {
			fatal("srun", fmt.Errorf("%d of 6 tasks have come", len(pids)))
		}
	}
	os.Setenv("SLURM_CONF", filepath.Join(dir, "slurm.conf"))
	defer os.Unsetenv("SLURM_CONF")
	sdm := []string{"testdata/hosts/on", name + "0", b.console()}
	b.find("sdm attach slurm:JOB, 6 ranks on three nodes", pids, sdm, "slurm:"+id, func() { on("sattach", "--layout", id).Run() }, limit{ratio: 1.3})
}
