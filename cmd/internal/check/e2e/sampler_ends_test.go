package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

var samplerEnds = flag.Int("sampler-ends", 6, "random ends of the sampling of stacks")

// TestSamplerEnds kills sdm, sdm-master and servers while they sample stacks without a pause. After
// each of them the ranks must run untraced, and no process of sdm may be left. The seed is the same
// as in TestRandomEnds.
func TestSamplerEnds(t *testing.T) {
	t.Parallel()
	seed := seedOf(*endSeed)
	t.Run(fmt.Sprintf("-end-seed=%d", seed), func(t *testing.T) {
		random := rand.New(rand.NewPCG(seed, 19))
		v := newVictims(t, "processes")
		for range *samplerEnds {
			if t.Failed() {
				return
			}
			v.endSampling(random)
		}
	})
}

// alwaysSampling is a command that takes longer than a test.
var alwaysSampling = []string{"--samples", "1000", "--every", "1ms"}

// endSampling begins to sample, and kills one of the programs, or two, at a random moment.
func (v *victims) endSampling(random *rand.Rand) {
	v.t.Helper()
	separate := random.IntN(4) == 0
	programs, victims := []string{"sdm", "sdm-server"}, []string{"sdm", "sdm-server", "sdm sdm-server"}
	var front *process
	if separate {
		programs = append(programs, "sdm-master")
		victims = append(victims, "sdm-master", "sdm-master sdm-server")
		console, addr := v.listen(4, "-b", "-e", "stacks "+strings.Join(alwaysSampling, " "))
		_, meet := v.rendezvous(addr)
		// A server that has not registered yet waits for a master that is gone.
		for i, pid := range v.ranks {
			v.start("sdm-server", "--attach", strconv.Itoa(pid), "--backend", "probe", "--rendezvous", meet, "--server", strconv.Itoa(i), "--size", "4", "--connect-wait", "5s")
		}
		front = console.process
	} else {
		front = v.start("sdm", append(append([]string{"stacks"}, alwaysSampling...), v.target)...)
	}
	v.eventually(patience, func() string { // the first sample comes within a few milliseconds
		if !front.running() {
			return "it has ended: " + front.said()
		}
		if len(v.named("sdm-server")) == 0 {
			return "there is no server"
		}
		return ""
	})
	after := time.Duration(random.Int64N(int64(250 * time.Millisecond)))
	<-time.After(after)
	names := victims[random.IntN(len(victims))]
	for name := range strings.FieldsSeq(names) {
		for _, p := range v.named(name) {
			syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
	what := fmt.Sprintf("kill -9 of %s after %v (apart: %v)", names, after, separate)
	v.eventually(settleTime, func() string {
		for _, name := range programs {
			if left := v.named(name); len(left) > 0 {
				return what + ": left are " + fmt.Sprint(left)
			}
		}
		if trouble := v.trouble(); trouble != "" {
			return what + ": " + trouble
		}
		return ""
	})
	front.status(patience)
}
