// The time to attach to running jobs of Flux and PALS, by their stand-ins.

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// managed is a job of a resource manager on this host.
type managed struct {
	name   string
	target string   // argument of sdm attach
	list   []string // the command of the resource manager that lists the ranks
	env    []string
	pids   []int
	end    func()
}

// benchManagers measures the time from the start of sdm attach until all ranks are attached,
// against the list that the resource manager gives and bare gdbs that have as many ranks each.
func benchManagers(b *bench) {
	b.progress("%d ranks of Flux and of PALS, %d times each way", attachRanks, attachTimes)
	sdm := b.console()
	for _, start := range []func(*bench) managed{startFlux, startPALS} {
		m := start(b)
		_, _, gdbs := b.attachBySDM(m.pids)
		per := (len(m.pids) + gdbs - 1) / gdbs
		c := compare(attachTimes, 1, func(int) time.Duration { return m.attach(sdm) }, func(int) time.Duration {
			began := time.Now()
			m.lists()
			listed := time.Since(began)
			took, _ := attachByGDBs(m.pids, per)
			return listed + took
		})
		m.end()
		what := fmt.Sprintf("sdm attach to %d ranks of %s (a stand-in), on one host", len(m.pids), m.name)
		b.table.add(row{what: what, unit: "ms", ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.3, slack: 100}})
	}
}

// console returns the path of sdm, beside its server.
func (b *bench) console() string {
	sdm := filepath.Join(filepath.Dir(b.server), "sdm")
	if _, err := os.Stat(sdm); err != nil {
		b.run("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", sdm, "./cmd/sdm")
	}
	return sdm
}

// lists runs the command that lists the ranks, and returns what it writes.
func (m *managed) lists() string {
	cmd := exec.Command(m.list[0], m.list[1:]...)
	cmd.Env = m.env
	out, err := cmd.Output()
	if err != nil {
		fatal(strings.Join(m.list, " "), err)
	}
	return string(out)
}

// attach attaches with sdm and returns the time until all ranks are attached. They run on.
func (m *managed) attach(sdm string) time.Duration {
	cmd := exec.Command(sdm, "attach", "--no-rc", "--format", "ndjson", "-b", "-e", "ranks", m.target)
	cmd.Env = m.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		fatal(sdm, err)
	}
	began, took := time.Now(), time.Duration(0)
	if err := cmd.Start(); err != nil {
		fatal(sdm, err)
	}
	for text := bufio.NewScanner(out); text.Scan(); {
		if took == 0 && strings.HasPrefix(text.Text(), `{"event":"done"`) {
			took = time.Since(began)
		}
	}
	if err := cmd.Wait(); err != nil || took == 0 {
		fatal("sdm attach "+m.target, fmt.Errorf("it has not attached: %w", err))
	}
	return took
}

// waits calls a function until its result is true.
func waits(what string, is func() bool) {
	for late := time.Now().Add(10 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(late) {
			fatal(what, fmt.Errorf("not in 10 s"))
		}
	}
}

// prepareManager makes the folder of a stand-in and the file of the program that runs commands on
// hosts, which are all this one.
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

func startFlux(b *bench) managed {
	host, _ := os.Hostname()
	dir := b.prepareManager("flux-instance", map[string]string{"hosts": host, "on": "", "version": "0.84.0", "owner": "1"})
	bin := filepath.Join(b.dir, "flux-bin")
	flux := filepath.Join(bin, "flux")
	b.run("go", "build", "-o", flux, "./testdata/flux")
	if err := os.Symlink("flux", flux+"-job"); err != nil {
		fatal("flux-job", err)
	}
	m := managed{name: "Flux", env: append(os.Environ(), "FLUX_URI=local://"+dir, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+b.dir)}
	m.list = []string{flux, "submit", "-n", strconv.Itoa(attachRanks), b.compile("spin")}
	id := strings.TrimSpace(m.lists())
	m.list, m.target = []string{flux, "job", "hostpids", id}, "flux:"+id
	for one := range strings.SplitSeq(strings.TrimSpace(m.lists()), ",") {
		_, number, _ := strings.Cut(one, ":")
		pid, _ := strconv.Atoi(number)
		m.pids = append(m.pids, pid)
	}
	m.end = func() {
		m.list = []string{flux, "cancel", id}
		m.lists()
	}
	return m
}

func startPALS(b *bench) managed {
	host, _ := os.Hostname()
	dir := b.prepareManager("pals", map[string]string{"pbs/12.pbs": host + "\n", "version": "1.6.0", "env": "", "here": "#!/bin/sh\nshift; exec \"$@\"\n"})
	if err := os.WriteFile(filepath.Join(dir, "on"), []byte(filepath.Join(dir, "here")), 0o600); err != nil {
		fatal("pals", err)
	}
	scripts, _ := filepath.Abs("testdata/pals")
	mpiexec := filepath.Join(dir, "mpiexec")
	b.run("gcc", "-O1", "-o", mpiexec, "testdata/pals/mpiexec.c")
	m := managed{name: "PALS", target: "pbs:12", env: append(os.Environ(), "PALS_STANDIN="+dir, "PBS_NODEFILE="+filepath.Join(dir, "pbs/12.pbs"),
		"PBS_JOBID=12.pbs", "PALS_LOCAL_LAUNCH=0", "PATH="+scripts+":"+os.Getenv("PATH"), "HOME="+b.dir)}
	cmd := exec.Command(mpiexec, "-n", strconv.Itoa(attachRanks), b.compile("spin"))
	cmd.Env = m.env
	if err := cmd.Start(); err != nil {
		fatal(mpiexec, err)
	}
	var found []string
	waits("ranks of PALS", func() bool {
		found, _ = filepath.Glob(filepath.Join(dir, "apps", "*", "ranks")) // the pattern is valid
		return len(found) == 1
	})
	m.list = []string{filepath.Join(scripts, "palstat"), "-n", host, "-p", filepath.Base(filepath.Dir(found[0]))}
	for line := range strings.Lines(m.lists()) {
		fields := strings.Fields(line)
		if pid, err := strconv.Atoi(fields[len(fields)-1]); err == nil {
			m.pids = append(m.pids, pid)
		}
	}
	m.end = func() {
		cmd.Process.Signal(os.Interrupt)
		for _, pid := range m.pids {
			if p, err := os.FindProcess(pid); err == nil {
				p.Kill()
			}
		}
		cmd.Wait()
	}
	return m
}
