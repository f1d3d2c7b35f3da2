// What sdm watch costs while nothing happens.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

const (
	// watchEvery is the default interval of samples, for which the cost is told.
	watchEvery = 30 * time.Second
	// watchFaster is the interval of the measurement. It is longer than the time after which a server gives
	// memory back, so that each sample costs what one does that comes later.
	watchFaster = 3 * time.Second
	watchIdle   = 15 * time.Second // without samples
	watchFor    = 30 * time.Second // with samples
	watchSettle = 4 * time.Second  // until the first sample has been taken and memory has been given back
)

// benchWatch measures the processor time of sdm and its server, at one sample in 30 s.
func benchWatch(b *bench) {
	sdm := filepath.Join(b.dir, "sdm")
	b.build(sdm)
	b.besideServer(sdm)
	if b.hasStarter() {
		_, starter, end := b.startHung(probeRanks)
		b.watch(sdm, fmt.Sprintf("%d hung MPI ranks", probeRanks), strconv.Itoa(starter), 0.001)
		end()
	}
	small, end := startReady(manyRanks, b.compile("manythreads"))
	b.watch(sdm, fmt.Sprintf("%d processes on %d processors", manyRanks, runtime.NumCPU()), listed(small), 0)
	end()
}

// watch measures one job. share is the permitted part of the time of all processors; 0: there is no limit.
func (b *bench) watch(sdm, what, target string, share float64) {
	var l limit
	b.progress("sdm watch of %s", what)
	idle := b.watched(sdm, target, time.Hour, watchIdle)
	busy := b.watched(sdm, target, watchFaster, watchFor)
	sample := (busy - idle) * watchFaster.Seconds()          // seconds of processor time
	most := watchEvery.Seconds() * float64(runtime.NumCPU()) // seconds of processor time that there are
	used := idle*watchEvery.Seconds() + sample
	b.table.add(row{what: "sdm watch of " + what + ", a sample", unit: "ms", ours: 1000 * sample})
	if share > 0 {
		l.most = 1000 * most * share
	}
	b.table.add(row{what: "sdm watch of " + what + ", 30 s with one sample", unit: "ms", ours: 1000 * used, limit: l})
}

// watched returns the processor time that sdm and its server use in a second.
func (b *bench) watched(sdm, target string, every, during time.Duration) float64 {
	cmd := exec.Command(sdm, "watch", "--stall", "2h", "--interval", every.String(), target)
	cmd.Env = append(os.Environ(), "SDM_NO_RC=true", "HOME="+b.dir)
	cmd.Dir, cmd.Stderr = b.dir, os.Stderr
	if err := cmd.Start(); err != nil {
		fatal("sdm watch", err)
	}
	time.Sleep(watchSettle)
	pids := family(cmd.Process.Pid)
	if len(pids) != 2 {
		fatal("sdm watch", fmt.Errorf("it has %d processes, want 2: sdm and a server", len(pids)))
	}
	before, began := cpuTime(pids), time.Now()
	time.Sleep(during)
	used := (cpuTime(pids) - before).Seconds() / time.Since(began).Seconds()
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait() // its status is that of an interrupt
	return used
}
