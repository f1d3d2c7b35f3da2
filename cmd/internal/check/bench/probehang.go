// What hung MPI ranks wait for, and why the job hangs.

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Of a job whose verdict becomes certain.
const (
	certainSamples = 4
	certainEvery   = 150 * time.Millisecond
)

// verdicts measures whole commands that say why a job hangs, from one sample and from several.
func (b *bench) verdicts(sdm, target string) {
	b.progress("the verdict of %d hung MPI ranks", probeRanks)
	say := func(verdict string, args ...string) float64 {
		line := slices.Concat([]string{sdm, "stacks"}, args, []string{target})
		return ms(b.saying(func(out []byte) bool { return bytes.HasPrefix(out, []byte(verdict)) }, line...)(probeTimes))
	}
	b.table.add(row{what: fmt.Sprintf("sdm stacks with verdict, %d hung MPI ranks", probeRanks), unit: "ms", ours: say("so far: "), limit: limit{most: 100}})
	const rests = (certainSamples - 1) * certainEvery
	took := say("certain: ", "--samples", strconv.Itoa(certainSamples), "--every", certainEvery.String())
	b.table.add(row{what: "certain verdict, beyond its 3 x 150 ms", unit: "ms", ours: took - ms(rests), limit: limit{most: 100}})
}

// manyHung measures many hung MPI ranks of one host. There are too few processors for them, so they are
// stopped, and only the command runs.
func (b *bench) manyHung(sdm string) {
	const whole, each = 250, 3 // limits in ms: of the command, and of a later sample for each rank
	b.progress("%d hung MPI ranks", manyRanks)
	pids, starter, end := b.startHung(manyRanks)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			fatal("stop", err)
		}
	}
	what := fmt.Sprintf("%d hung MPI ranks, stopped", manyRanks)
	stacks := b.command(sdm, "stacks", strconv.Itoa(starter))
	b.table.add(row{what: "sdm stacks with verdict, " + what, unit: "ms", ours: ms(stacks(probeTimes)), limit: limit{most: whole}})
	b.probeServer(what, pids, aims{warm: each * manyRanks})
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGCONT) // so that they end
	}
	end()
}
