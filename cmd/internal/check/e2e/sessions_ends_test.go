package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The number of random ends of sessions, and their seed.
var (
	sessionEnds    = flag.Int("session-ends", 8, "random ends of sessions that are shared, of both kinds together")
	sessionEndSeed = flag.Uint64("session-end-seed", 0, "seed of them; 0 is another one each time")
)

// Bounds of the end of a session: how long it may be without front ends, and how soon all of it must be gone then.
const (
	endsKeep = 2 * time.Second
	endsTime = 10 * time.Second
)

// TestRandomSessionEnds kills the console, a second one, the process of the session, servers and gdbs at random moments
// of sessions that are shared. Soon after the time for which they are kept no process of sdm may be left; ranks that
// sdm has started have ended, and those that it has attached to run untraced.
func TestRandomSessionEnds(t *testing.T) {
	t.Parallel()
	seed := seedOf(*sessionEndSeed)
	t.Run(fmt.Sprintf("-session-end-seed=%d", seed), func(t *testing.T) {
		for i, kind := range []string{"run", "attach"} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				x := &sharedEnds{random: rand.New(rand.NewPCG(seed, uint64(i)))}
				if kind == "run" {
					x.scene, x.line = newScene(t), []string{"-n", "4", program("spin")}
				} else {
					x.ranks = newVictims(t, "processes")
					x.scene, x.line = x.ranks.scene, []string{x.ranks.target}
				}
				for range (*sessionEnds + 1) / 2 {
					if x.play(kind); t.Failed() {
						return
					}
				}
			})
		}
	})
}

// sharedEnds is one kind of sessions.
type sharedEnds struct {
	*scene
	random *rand.Rand
	line   []string
	ranks  *victims // that run already; nil: sdm starts them
}

// play begins a session and ends something at a random moment, perhaps beside a second console.
func (x *sharedEnds) play(kind string) {
	x.t.Helper()
	args := []string{kind, "--keep", endsKeep.String(), "-b", "-e", "continue &", "-e", "shell sleep 0.3", "-e", "interrupt",
		"-e", "shell sleep 0.3"}
	first := x.start("sdm", append(args, x.line...)...)
	after := 20*time.Millisecond + time.Duration(x.random.Int64N(int64(1500*time.Millisecond)))
	<-time.After(after)
	var second *process
	if x.random.IntN(2) == 0 && len(x.stateFiles()) > 0 {
		second = x.start("sdm", "join", "-b", "-e", "print 6*7", "-e", "shell sleep 0.3", "-e", "continue &")
		more := time.Duration(x.random.Int64N(int64(300 * time.Millisecond)))
		<-time.After(more)
		after += more
	}
	told := fmt.Sprintf("sdm %s: %s after %v", kind, x.strike(first), after)
	late := time.NewTimer(endsKeep + endsTime)
	defer late.Stop()
	for _, p := range []*process{first, second} {
		if p == nil {
			continue
		}
		select {
		case <-p.ended:
		case <-late.C:
			x.t.Errorf("%s: %s does not end%s", told, p.name, p.said())
			return
		}
		p.status(patience)
	}
	x.eventually(endsKeep+endsTime, func() string {
		if x.ranks != nil {
			if trouble := x.ranks.trouble(); trouble != "" {
				return told + ": " + trouble
			}
		}
		var left []proc
		for _, p := range x.found() {
			switch {
			case x.ranks != nil && p.name == "spin":
			case x.ranks == nil && p.name == "gdb" && strings.EqualFold(p.state, "t") && p.tracer == 0: // see docs/fault-tolerance.md
				x.t.Logf("%s: a child by which a gdb tries ptrace stays: %v", told, p)
				syscall.Kill(p.pid, syscall.SIGKILL)
			default:
				left = append(left, p)
			}
		}
		if len(left) > 0 {
			return fmt.Sprintf("%s: left are %v", told, left)
		}
		return ""
	})
	for _, path := range x.stateFiles() { // of a process that was killed
		os.Remove(path)
	}
}

// strike ends something, and returns what.
func (x *sharedEnds) strike(console *process) string {
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL}
	sig := signals[x.random.IntN(len(signals))]
	way := x.random.IntN(6)
	for _, p := range x.found() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		holds := strings.HasPrefix(string(line), "sdm\x00hold\x00")
		switch {
		case way == 0 && p.pid == console.cmd.Process.Pid,
			way == 1 && holds,
			way == 2 && p.name == "sdm":
			syscall.Kill(p.pid, sig)
		case way == 3 && p.name == "sdm-server",
			way == 4 && strings.HasPrefix(p.name, "sdm"),
			way == 5 && (p.name == "gdb" || holds && sig == syscall.SIGKILL):
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	return []string{
		fmt.Sprintf("%v to the console", sig), fmt.Sprintf("%v to the process of the session", sig),
		fmt.Sprintf("%v to all sdm", sig), "kill -9 of the servers", "kill -9 of all sdm and servers", "kill -9 of gdbs",
	}[way]
}
