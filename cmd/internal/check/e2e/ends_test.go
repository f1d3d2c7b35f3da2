package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The number of random ends of attaches in total, and their seed.
var (
	ends    = flag.Int("ends", 12, "random ends of attaches to try on all kinds of jobs, together")
	endSeed = flag.Uint64("end-seed", 0, "seed of them; 0 is another one each time")
)

// settleTime is how soon a job must run as before after an attach was interrupted. A gdb that does
// not end is killed after 3 s.
const settleTime = 60 * time.Second

// seedOf returns the seed of a flag, or another one each time if that is 0.
func seedOf(flag uint64) uint64 {
	if flag == 0 {
		return uint64(time.Now().UnixNano())
	}
	return flag
}

// TestRandomEnds interrupts attaches of all kinds at random moments: by signals to sdm, and by kill
// -9 of sdm, of servers, of gdbs and of custodians, singly and together. After each of them all
// ranks must run untraced, and no process of sdm may be left.
func TestRandomEnds(t *testing.T) {
	t.Parallel()
	seed := seedOf(*endSeed)
	t.Run(fmt.Sprintf("-end-seed=%d", seed), func(t *testing.T) {
		kinds := []string{"Open MPI", "MPICH", "processes", onFourHosts, ofSlurm}
		for i, kind := range kinds {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				victims := newVictims(t, kind)
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				for range (*ends + len(kinds) - 1) / len(kinds) {
					victims.play(random)
				}
				if victims.job != nil {
					victims.endJob(random)
				}
			})
		}
	})
}

// Kinds of jobs besides jobs of starters on this host.
const (
	onFourHosts = "Open MPI on four hosts" // its starter starts our servers itself
	ofSlurm     = "step of Slurm"
)

// victims are a running job of 4 ranks, which must continue to run.
type victims struct {
	*scene
	target string // the argument of sdm attach
	ranks  []int
	line   string                        // a source line that all ranks reach repeatedly
	job    *process                      // the starter; nil: none that may be ended
	at     func(args ...string) *process // starts sdm
}

func newVictims(t *testing.T, kind string) *victims {
	v := &victims{}
	name, first := "mpiwait", unraced("sdm")
	switch kind {
	case "processes":
		v.scene = newScene(t)
		name = "spin"
		v.line = "spin.c:" + strconv.Itoa(lineOf(t, "spin.c", "turns++;"))
		for range 4 {
			v.start(program("spin"))
		}
	case onFourHosts:
		needMPIR(t)
		o := newOnHosts(t)
		v.scene = o.scene
		line := o.line(openMPI.program("mpiwait"), filepath.Join(v.dir, "never"))
		v.job = o.here(line[0], line[1:]...)
		v.at = func(args ...string) *process {
			argv := o.Argv(0, append([]string{first}, args...)...)
			return v.start(argv[0], argv[1:]...)
		}
	case ofSlurm:
		s, cluster := newCluster(t)
		v.scene = s
		v.job = s.on(cluster.Hosts, 0, "srun", "-n4", "-N", "2", slurmMPI["MPICH"], starters[1].program("mpiwait"), filepath.Join(s.dir, "never"))
		v.at = func(args ...string) *process {
			argv := cluster.Hosts.Argv(0, append([]string{first}, args...)...)
			return v.start(argv[0], argv[1:]...)
		}
	default:
		v.scene = newScene(t)
		i := slices.IndexFunc(starters, func(s starter) bool { return s.name == kind })
		v.job = v.mpirun(starters[i], 4, starters[i].program("mpiwait"), filepath.Join(v.dir, "never"))
	}
	if v.at == nil {
		v.at = func(args ...string) *process { return v.start(first, args...) }
	}
	if job := v.job; job != nil {
		v.line = "mpiwait.c:" + strconv.Itoa(lineOf(t, "mpiwait.c", "usleep("))
		v.target = strconv.Itoa(job.cmd.Process.Pid)
		t.Cleanup(func() { // before the scene checks what is left
			if job.running() {
				job.signal(syscall.SIGTERM)
			}
			job.status(patience)
		})
	}
	v.eventually(patience, func() string {
		v.ranks = nil
		for _, p := range v.found() {
			if strings.HasPrefix(p.name, name) {
				v.ranks = append(v.ranks, p.pid)
			}
		}
		if len(v.ranks) != 4 {
			return fmt.Sprintf("%d ranks are there", len(v.ranks))
		}
		return ""
	})
	if kind == ofSlurm {
		v.target = "slurm:" + slurmJob(v.ranks[0])
	}
	if v.target == "" {
		var pids []string
		for _, pid := range v.ranks {
			pids = append(pids, strconv.Itoa(pid))
			t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
		}
		v.target = "pids:" + strings.Join(pids, ",")
	}
	return v
}

// startWait is less than settleTime: what is started by an sdm that is killed waits so long for it. By itself sdm would
// wait longer on a busy machine.
const startWait = "30s"

// attaches are ways of attaching. LINE is a source line that all ranks reach.
var attaches = [][]string{
	{"stacks"},
	{"stacks", "--samples", "3", "--every", "50ms"},
	{"stacks", "--engine", "gdb", "--samples", "3", "--every", "50ms"},
	{"stacks", "--engine", "gdb", "--ranks-per-gdb", "4"},
	{"attach", "-b", "-e", "continue &", "-e", "shell sleep 0.2"},
	{"attach", "-b", "--ranks-per-gdb", "4", "-e", "break LINE", "-e", "continue", "-e", "continue", "-e", "shell sleep 0.1"},
	{"attach", "-b", "--ranks-per-gdb", "1", "-e", "tbreak LINE", "-e", "continue", "-e", "next"},
	{"attach", "-b", "--ranks-per-server", "2", "-e", "stacks"},
	{"attach", "-b", "-r", "1-2", "-e", "stacks"},
	{"stacks", "-r", "0"},
	{"stacks", "RANK"},
	{"attach", "-b", "-e", "interrupt", "-e", "continue &", "-e", "shell sleep 0.1", "RANK"},
}

// slurmJob returns the number of the job of a rank.
func slurmJob(rank int) string {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", rank))
	for word := range strings.SplitSeq(string(env), "\x00") {
		if id, ok := strings.CutPrefix(word, "SLURM_JOB_ID="); ok {
			return id
		}
	}
	return ""
}

// endJob ends the starter during an attach: the job must end, and none of its ranks may be left
// stopped.
func (v *victims) endJob(random *rand.Rand) {
	v.t.Helper()
	if v.t.Failed() {
		return
	}
	sdm := v.at("attach", "-b", "--connect-wait", startWait, "-e", "continue &", "-e", "shell sleep 0.2", v.target)
	after := 20*time.Millisecond + time.Duration(random.Int64N(int64(600*time.Millisecond)))
	<-time.After(after)
	sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[random.IntN(2)]
	v.job.signal(sig)
	sdm.status(patience)
	v.eventually(settleTime, func() string {
		for _, pid := range v.ranks {
			if p := look(pid); p.held() {
				return fmt.Sprintf("%v to the starter after %v: %v has the tracer %d", sig, after, p, p.tracer)
			}
		}
		return ""
	})
	for _, pid := range v.ranks { // not ended yet by Slurm, or by a daemon without its starter
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// play attaches, and ends that at a random moment.
func (v *victims) play(random *rand.Rand) {
	v.t.Helper()
	if v.t.Failed() {
		return
	}
	line := slices.Clone(attaches[random.IntN(len(attaches))])
	target := v.target
	for i, word := range line {
		line[i] = strings.ReplaceAll(word, "LINE", v.line)
	}
	if last := len(line) - 1; line[last] == "RANK" {
		line, target = line[:last], strconv.Itoa(v.ranks[random.IntN(len(v.ranks))])
	}
	after := 20*time.Millisecond + time.Duration(random.Int64N(int64(600*time.Millisecond)))
	sdm := v.at(append(line, "--connect-wait", startWait, target)...)
	<-time.After(after)
	// A gdb that is killed while its breakpoints are in a rank may cost that rank: before the
	// server notices, a thread can reach a trap (docs/fault-tolerance.md, "A lost gdb").
	traps := slices.ContainsFunc(line, func(word string) bool { return strings.Contains(word, "break ") })
	what := v.strike(sdm, random, !traps)
	told := fmt.Sprintf("sdm %s: %s after %v", strings.Join(line, " "), what, after)
	select {
	case <-sdm.ended:
	case <-time.After(settleTime):
		v.t.Errorf("%s: sdm does not end; %s", told, v.trouble())
		for _, p := range v.found() {
			v.t.Logf("%v, child of %d, traced by %d", p, p.parent, p.tracer)
		}
		sdm.signal(syscall.SIGABRT) // shows where it hangs
	}
	sdm.status(patience)
	v.eventually(settleTime, func() string {
		if trouble := v.trouble(); trouble != "" {
			return told + ": " + trouble
		}
		return ""
	})
}

// strike ends something, and returns what. It kills gdbs only if gdbs is set.
func (v *victims) strike(sdm *process, random *rand.Rand, gdbs bool) string {
	kill := func(sig syscall.Signal, names ...string) {
		for _, name := range names {
			for _, p := range v.named(name) {
				syscall.Kill(p.pid, sig)
			}
		}
	}
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL}
	sig, way := signals[random.IntN(4)], random.IntN(8)
	if way > 3 && !gdbs {
		way = 0
	}
	switch way {
	default:
		kill(sig, "sdm")
		return fmt.Sprintf("%v to sdm", sig)
	case 3:
		kill(syscall.SIGKILL, "sdm-server")
		return "kill -9 of the servers"
	case 4:
		kill(syscall.SIGKILL, "gdb")
		return "kill -9 of the gdbs"
	case 5:
		kill(syscall.SIGKILL, "sdm", "sdm-server", "gdb")
		return "kill -9 of all that can be seen"
	case 6:
		kill(syscall.SIGKILL, "ranks-custodian", "gdb")
		kill(syscall.SIGTERM, "sdm")
		return "kill -9 of the custodian and the gdbs, SIGTERM to sdm"
	case 7:
		if all := v.named("gdb"); len(all) > 0 {
			syscall.Kill(all[random.IntN(len(all))].pid, syscall.SIGTERM)
		}
		kill(sig, "sdm")
		return fmt.Sprintf("SIGTERM to a gdb, %v to sdm", sig)
	}
}

// trouble returns what is not as it was before the attach.
func (v *victims) trouble() string {
	for _, pid := range v.ranks {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*", pid))
		if len(tasks) == 0 || look(pid).state == "Z" {
			return fmt.Sprintf("rank %d has ended", pid)
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(filepath.Base(task))
			if p := look(tid); p.held() {
				return fmt.Sprintf("%v has the tracer %d", p, p.tracer)
			}
		}
	}
	for _, name := range []string{"sdm-server", "gdb", "ranks-custodian"} {
		if left := v.named(name); len(left) > 0 {
			return fmt.Sprintf("%v is left", left)
		}
	}
	return ""
}
