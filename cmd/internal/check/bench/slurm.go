// The time to take control of a job of Slurm, on three simulated hosts.

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sdm/launch/slurm"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// slurmTries is how often each way starts the job.
const slurmTries = 5

// benchSlurm measures the time from the start of sdm until all 6 ranks on three nodes have stopped
// in main, against srun alone with the same program to its end. It is left out where simulated
// hosts or Slurm are not available.
func benchSlurm(b *bench) {
	name, dir := fmt.Sprintf("b%dh", os.Getpid()), filepath.Join(b.dir, "slurm")
	up := exec.Command("testdata/hosts/up", name, "4")
	up.Env = append(os.Environ(), fmt.Sprintf("SDM_HOSTS_OWNER=%d", os.Getpid()))
	if text, err := up.CombinedOutput(); err != nil {
		b.progress("left out: %s", strings.TrimSpace(string(text)))
		return
	}
	defer exec.Command("testdata/hosts/down", name).Run()
	if text, err := exec.Command("testdata/slurm/up", name, dir).CombinedOutput(); err != nil {
		b.progress("left out: %s", strings.TrimSpace(string(text)))
		return
	}
	sdm := b.console()
	b.progress("6 ranks on three nodes of Slurm, %d times each way", slurmTries)
	var held, bare []time.Duration
	job := []string{"srun", "-n6", "-N3", "--mpi=none", b.program}
	for range slurmTries {
		began := time.Now()
		slurmRun(name+"0", dir, "", job...)
		bare = append(bare, time.Since(began))
		line := append([]string{sdm, "run", "--no-rc", "--format", "ndjson", "-b", "-e", "ranks", "-e", "kill", "--"}, job...)
		held = append(held, slurmRun(name+"0", dir, `"command":"ranks"`, line...))
	}
	b.table.add(row{what: "Slurm, 3 nodes: start until 6 ranks stand at main (median)", unit: "ms", ours: ms(median(held)), limit: limit{most: 2000}})
	b.table.add(row{what: "the same job by srun alone, to its end (median)", unit: "ms", ours: ms(median(bare))})
	b.slurmAttach(name, dir)
}

// slurmRun runs a command on a host to its end, and returns the time until it has written the
// words.
func slurmRun(host, dir, words string, line ...string) time.Duration {
	cmd := exec.Command("testdata/hosts/on", append([]string{host}, line...)...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "HOME="+dir)
	return timeUntil(cmd, words)
}

// timeUntil runs a command to its end, and returns the time until it has written the words.
func timeUntil(cmd *exec.Cmd, words string) time.Duration {
	out := startPiped(cmd, "start "+cmd.Path)
	began, seen := time.Now(), time.Duration(0)
	for text := bufio.NewScanner(out); text.Scan(); {
		if seen == 0 && words != "" && strings.Contains(text.Text(), words) {
			seen = time.Since(began)
		}
	}
	cmd.Wait() // killed ranks make the status fail
	if words != "" && seen == 0 {
		fatal(strings.Join(cmd.Args, " "), fmt.Errorf("it never said %s", words))
	}
	return seen
}

// slurmAttach measures sdm attach slurm:JOB from the login node. The floor is sattach, and srun
// that starts bare gdbs beside the ranks.
func (b *bench) slurmAttach(name, dir string) {
	spin := b.compile("spin")
	k := &known{what: "sdm attach slurm:JOB, 6 ranks on three nodes", on: []string{"testdata/hosts/on", name + "0"},
		env: append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "HOME="+dir)}
	job := k.command("srun", "-n6", "-N3", "--mpi=none", "-l", "sh", "-c", "hostname; echo $$; exec "+spin)
	out := startPiped(job, "srun")
	defer job.Wait()
	k.nodes = readTasks(out)
	id := strings.TrimSpace(k.output("squeue", "-h", "-s", "-o", "%i"))
	number, _, _ := strings.Cut(id, ".")
	defer k.command("scancel", number).Run()
	k.target, k.lists = "slurm:"+id, [][]string{{"sattach", "--layout", id}}
	k.starts = func() []string {
		var hosts []string
		for _, n := range k.nodes {
			hosts = append(hosts, n.Host)
		}
		return slurm.Beside(number, hosts)
	}
	b.attachTo(k)
}

// readTasks reads two lines of each of the six tasks, which srun labels: its host and its process.
func readTasks(r io.Reader) []protocol.Node {
	table, lines := make(protocol.Proctable, 6), bufio.NewScanner(r)
	for range 2 * len(table) {
		if !lines.Scan() {
			fatal("srun", fmt.Errorf("its tasks have not come"))
		}
		label, text, _ := strings.Cut(lines.Text(), ": ")
		i, err := strconv.Atoi(strings.TrimSpace(label))
		if err != nil || i < 0 || i >= len(table) {
			fatal("srun", fmt.Errorf("what task says %q?", lines.Text()))
		}
		table[i].Rank = rank.ID(i)
		if pid, err := strconv.Atoi(text); err == nil {
			table[i].PID = pid
		} else {
			table[i].Host = text
		}
	}
	return table.Nodes()
}
