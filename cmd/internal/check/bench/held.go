// Taking control of a starter's job.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"sdm/cmd/internal/check/programs"
	"sdm/launch/mpir"
	"sdm/protocol/rank"
)

// heldRanks is the number of ranks of the job, heldStarts how often each way starts it.
const (
	heldRanks  = 8
	heldStarts = 5
)

// The starter and the compiler of Open MPI, which offers MPIR.
const (
	starter  = "mpirun.openmpi"
	compiler = "mpicc.openmpi"
)

// benchHeld measures sdm run of mpirun until all ranks are held and attached, against mpirun itself
// until MPIR_Breakpoint and as many bare gdbs that attach concurrently.
func benchHeld(b *bench) {
	if !b.hasStarter() {
		return
	}
	b.progress("%d ranks of mpirun, %d times each way", heldRanks, heldStarts)
	program, sdm := filepath.Join(b.dir, "ring"), filepath.Join(b.dir, "sdm")
	b.run(compiler, "-g", "-O0", "-o", program, "testdata/programs/ring.c")
	b.build(sdm)
	line := []string{starter, "-n", strconv.Itoa(heldRanks), program}
	env := append(b.starterEnv(), "SDM_NO_RC=true", "HOME="+b.dir)
	c := compare(heldStarts, 1,
		func(int) time.Duration {
			return heldBySDM(sdm, append([]string{"run", "--format", "ndjson", "--"}, line...), env)
		},
		func(int) time.Duration { return heldByGDBs(line, env) })
	b.table.add(row{what: fmt.Sprintf("%d ranks of mpirun held and attached", heldRanks), unit: "ms",
		ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.3}})
}

// hasStarter reports whether Open MPI is installed, and says so if it is not.
func (b *bench) hasStarter() bool {
	for _, name := range []string{starter, compiler} {
		if _, err := exec.LookPath(name); err != nil {
			b.progress("left out: %v", err)
			return false
		}
	}
	return true
}

// starterEnv returns an environment in which any user may start more ranks than there are
// processors.
func (b *bench) starterEnv() []string {
	mpi, err := programs.Environment()
	if err != nil {
		fatal("testdata/mpi.env", err)
	}
	return append(os.Environ(), mpi...)
}

// heldBySDM runs sdm until it has reported that all ranks are attached.
func heldBySDM(sdm string, line, env []string) time.Duration {
	began := time.Now()
	cmd := exec.Command(sdm, line...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		fatal("sdm", err)
	}
	out := startPiped(cmd, "sdm")
	var attached rank.Set
	lines := bufio.NewReader(out)
	for attached.Len() < heldRanks {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			fatal("sdm ended before its ranks were attached", err)
		}
		var e struct {
			Event  string
			Reason string
			Ranks  rank.Set
		}
		if json.Unmarshal(text, &e) == nil && e.Event == "stopped" && e.Reason == "attached" {
			attached = attached.Union(e.Ranks)
		}
	}
	took := time.Since(began)
	io.WriteString(in, "quit\n")
	in.Close()
	io.Copy(io.Discard, lines)
	cmd.Wait() // the exit status does not matter here
	return took
}

// heldByGDBs runs mpirun to its breakpoint and then attaches to its ranks.
func heldByGDBs(line, env []string) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	began := time.Now()
	l := mpir.New(mpir.Spec{Argv: line, Env: env})
	table, err := l.Acquire(ctx, func(string) {})
	if err != nil {
		fatal(starter, err)
	}
	var pids []int
	for _, p := range table {
		pids = append(pids, p.PID)
	}
	gdbs := attachBare(pids, 1)
	took := time.Since(began)
	l.Stop()
	for _, g := range gdbs {
		g.kill()
	}
	if err := l.End(ctx); err != nil {
		fatal(starter, err)
	}
	return took
}
