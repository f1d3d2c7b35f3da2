// Jobs of Flux and PALS, by their stand-ins, on this host.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// here returns this host as the only node of a job.
func here(pids []int) []protocol.Node {
	host, _ := os.Hostname()
	n := protocol.Node{Host: host}
	for i, pid := range pids {
		n.Pids = append(n.Pids, protocol.Pid{Rank: rank.ID(i), PID: pid})
	}
	return []protocol.Node{n}
}

// console returns the path of sdm, beside its server.
func (b *bench) console() string {
	sdm := filepath.Join(filepath.Dir(b.server), "sdm")
	if _, err := os.Stat(sdm); err != nil {
		b.build(sdm)
	}
	return sdm
}

// waitUntil calls a function until its result is true.
func waitUntil(what string, is func() bool) {
	for late := time.Now().Add(10 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			fatal(what, fmt.Errorf("not in 10 s"))
		}
	}
}

// prepareManager makes the folder of a stand-in with files that configure it.
func (b *bench) prepareManager(name string, files map[string]string) (dir string) {
	dir = filepath.Join(b.dir, name)
	for _, sub := range []string{"apps", "pbs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			fatal(name, err)
		}
	}
	for file, text := range files {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700); err != nil {
			fatal(name, err)
		}
	}
	return dir
}

// startFlux starts a job of the stand-in for Flux.
func startFlux(b *bench) *known {
	host, _ := os.Hostname()
	dir := b.prepareManager("flux-instance", map[string]string{"hosts": host, "on": "", "version": "0.84.0", "owner": "1"})
	bin := filepath.Join(b.dir, "flux-bin")
	flux := filepath.Join(bin, "flux")
	b.run("go", "build", "-o", flux, "./testdata/flux")
	if err := os.Symlink("flux", flux+"-job"); err != nil {
		fatal("flux-job", err)
	}
	k := &known{what: fmt.Sprintf("sdm attach flux:JOB, %d ranks, a stand-in", attachRanks),
		env: append(os.Environ(), "FLUX_URI=local://"+dir, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+b.dir)}
	id := strings.TrimSpace(k.output(flux, "submit", "-n", strconv.Itoa(attachRanks), b.compile("spin")))
	list := []string{flux, "job", "hostpids", id}
	k.target, k.lists = "flux:"+id, [][]string{list}
	var pids []int
	for one := range strings.SplitSeq(strings.TrimSpace(k.output(list...)), ",") {
		_, number, _ := strings.Cut(one, ":")
		pid, _ := strconv.Atoi(number)
		pids = append(pids, pid)
	}
	k.nodes = here(pids)
	k.end = func() { k.output(flux, "cancel", id) }
	return k
}

// startPALS starts a job of the stand-in for PALS. The file "on" names the program that runs commands
// on hosts; here it runs them on this one.
func startPALS(b *bench) *known {
	host, _ := os.Hostname()
	dir := b.prepareManager("pals", map[string]string{"pbs/12.pbs": host + "\n", "version": "1.6.0", "env": "", "here": "#!/bin/sh\nshift; exec \"$@\"\n"})
	if err := os.WriteFile(filepath.Join(dir, "on"), []byte(filepath.Join(dir, "here")), 0o600); err != nil {
		fatal("pals", err)
	}
	scripts, _ := filepath.Abs("testdata/pals")
	mpiexec := filepath.Join(dir, "mpiexec")
	b.run("gcc", "-O1", "-o", mpiexec, "testdata/pals/mpiexec.c")
	k := &known{what: fmt.Sprintf("sdm attach pbs:JOB, %d ranks, a stand-in for PALS", attachRanks), target: "pbs:12",
		env: append(os.Environ(), "PALS_STANDIN="+dir, "PBS_NODEFILE="+filepath.Join(dir, "pbs/12.pbs"),
			"PBS_JOBID=12.pbs", "PALS_LOCAL_LAUNCH=0", "PATH="+scripts+":"+os.Getenv("PATH"), "HOME="+b.dir)}
	cmd := k.command(mpiexec, "-n", strconv.Itoa(attachRanks), b.compile("spin"))
	if err := cmd.Start(); err != nil {
		fatal(mpiexec, err)
	}
	var found []string
	waitUntil("ranks of PALS", func() bool {
		found, _ = filepath.Glob(filepath.Join(dir, "apps", "*", "ranks")) // the pattern is valid
		return len(found) == 1
	})
	palstat := filepath.Join(scripts, "palstat")
	ranks := []string{palstat, "-n", host, "-p", filepath.Base(filepath.Dir(found[0]))}
	k.lists = [][]string{{filepath.Join(scripts, "qstat"), "-f", "12"}, {palstat, "-n", host}, ranks}
	var pids []int
	for line := range strings.Lines(k.output(ranks...)) {
		fields := strings.Fields(line)
		if pid, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
			pids = append(pids, pid)
		}
	}
	k.nodes = here(pids)
	k.end = func() {
		cmd.Process.Signal(os.Interrupt)
		for _, pid := range pids {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		cmd.Wait()
	}
	return k
}
