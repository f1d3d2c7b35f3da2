package gdb_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// BenchmarkShare brings 64 ranks to main, prints on all and runs all to the next
// breakpoint, for several numbers of ranks per gdb. PSS is the sum over all gdbs, per rank.
func BenchmarkShare(b *testing.B) {
	const n = 64
	for _, per := range []int{1, 4, 8, 16} {
		b.Run(fmt.Sprintf("per=%d", per), func(b *testing.B) {
			var start, print, goOn time.Duration
			var pss int
			for b.Loop() {
				began := time.Now()
				r := newRig(b, gdb.Config{RanksPerGDB: per})
				r.launch(build(b, "work.c"), n)
				start += time.Since(began)
				r.answers(r.send(n, "break", protocol.Args{Location: "helper", Breakpoint: 1}, patience), n)
				began = time.Now()
				r.answers(r.send(n, "continue", protocol.Args{}, patience), n)
				for id := range rank.ID(n) {
					r.await(id, protocol.KindStopped)
				}
				goOn += time.Since(began)
				for range 10 {
					began = time.Now()
					r.answers(r.send(n, "print", protocol.Args{Expr: "x"}, patience), n)
					print += time.Since(began)
				}
				pss = gdbMemory(r, n)
				b.StopTimer()
				r.close()
				b.StartTimer()
			}
			each := func(d time.Duration, times int) float64 { return d.Seconds() * 1000 / float64(b.N*times) }
			b.ReportMetric(each(start, 1), "ms/start")
			b.ReportMetric(each(goOn, 1), "ms/continue")
			b.ReportMetric(each(print, 10), "ms/print")
			b.ReportMetric(float64(pss)/n/1024, "MB/rank")
		})
	}
}

// gdbMemory returns the memory of all gdbs of some ranks, in kB.
func gdbMemory(r *rig, n int) int {
	sum := 0
	seen := map[int]bool{}
	for id := range rank.ID(n) {
		pid := r.gdbPID(id)
		if seen[pid] {
			continue
		}
		seen[pid] = true
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
				kb, _ := strconv.Atoi(strings.Fields(rest)[0])
				sum += kb
			}
		}
	}
	return sum
}
