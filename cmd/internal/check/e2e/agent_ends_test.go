package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"
)

var agentEnds = flag.Int("agent-ends", 6, "random ends of agents and of their sdm mcp, of both kinds together")

// TestAgentEnds ends clients of sdm mcp, and kills sdm mcp, while they start and steer sessions that are kept for two
// seconds. Soon after that no session may be left and no process of sdm; ranks that it has started have ended, and
// those that it has attached to run untraced. The seed is that of TestRandomEnds.
func TestAgentEnds(t *testing.T) {
	t.Parallel()
	seed := seedOf(*endSeed)
	t.Run(fmt.Sprintf("-end-seed=%d", seed), func(t *testing.T) {
		for i, kind := range []string{"run", "attach"} {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				x := &agentsEnds{random: rand.New(rand.NewPCG(seed, uint64(40+i)))}
				if kind == "attach" {
					x.ranks = newVictims(t, "processes")
					x.scene, x.first = x.ranks.scene, fmt.Sprintf(`{"id":"s","attach":%q}`, x.ranks.target)
				} else {
					x.scene = newScene(t)
					x.first = fmt.Sprintf(`{"id":"s","run":[%q],"np":4}`, program("spin"))
				}
				for range (*agentEnds + 1) / 2 {
					if x.play(); t.Failed() {
						return
					}
				}
			})
		}
	})
}

// agentsEnds is one kind of sessions of agents.
type agentsEnds struct {
	*scene
	random *rand.Rand
	first  string   // the arguments of sdm_start
	ranks  *victims // that run already; nil: sdm starts them
}

// play lets an agent work, and ends it at a random moment.
func (x *agentsEnds) play() {
	x.t.Helper()
	after := time.Duration(x.random.Int64N(int64(2500 * time.Millisecond)))
	due := time.After(after)
	c := x.agree("--keep", "2s")
	steps := []string{
		`"sdm_stacks","arguments":{"samples":3,"every":"50ms"}`,
		`"sdm_ask","arguments":{"how":"locals"}`,
		`"sdm_resume","arguments":{"id":"ID","how":"continue","wait":0.1}`,
		`"sdm_resume","arguments":{"id":"ID","how":"interrupt"}`,
		`"sdm_resume","arguments":{"id":"ID","how":"next"}`,
		`"sdm_break","arguments":{"at":"spin.c:1"}`,
		`"sdm_command","arguments":{"line":"info threads"}`,
		`"sdm_wait","arguments":{"for":"any"}`,
		`"sdm_sessions","arguments":{}`,
	}
	c.ask("tools/call", `{"name":"sdm_start","arguments":`+x.first+`}`)
	for open := true; open; {
		select {
		case <-due:
			open = false
		case _, open = <-c.got:
			step := steps[x.random.IntN(len(steps))]
			c.ask("tools/call", `{"name":`+strings.ReplaceAll(step, "ID", fmt.Sprint(c.last))+`}`)
		}
	}
	told := fmt.Sprintf("the client has ended after %v and %d calls", after, c.last-1)
	if x.random.IntN(2) == 0 {
		told = fmt.Sprintf("kill -9 of sdm mcp after %v and %d calls", after, c.last-1)
		c.server.Process.Signal(syscall.SIGKILL)
	}
	c.in.Close()
	c.out.Close()
	for range c.got { // until it has ended
	}
	x.eventually(endsKeep+endsTime, func() string {
		if x.ranks != nil {
			if trouble := x.ranks.trouble(); trouble != "" {
				return told + ": " + trouble
			}
		}
		if files := x.stateFiles(); len(files) > 0 {
			return fmt.Sprintf("%s: sessions are left: %v", told, files)
		}
		var left []proc
		for _, p := range x.found() {
			if x.ranks == nil || p.name != "spin" {
				left = append(left, p)
			}
		}
		if len(left) > 0 {
			return fmt.Sprintf("%s: left are %v", told, left)
		}
		return ""
	})
}
