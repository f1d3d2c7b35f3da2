// Eclipse PTP's commands, by a client that shares no code with the codec.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sdm/cmd/internal/check/eclipse"
)

// eclipseLaps is how often each command is measured.
const eclipseLaps = 20

// eclipsePort is the first port of the servers.
const eclipsePort = 31000

// Targets of Eclipse's commands on 64 ranks, in milliseconds at the client; the original needs 231,
// 820, 585 and 2300.
const (
	eclipseSame   = 10
	eclipseDiffer = 25
	eclipseStep   = 60
	eclipseStart  = 1500
)

// benchEclipse measures commands of Eclipse on 64 ranks that mpirun has started in PTP's own way.
func benchEclipse(b *bench) {
	if !b.hasStarter() {
		return
	}
	b.progress("%d ranks for Eclipse PTP", manyRanks)
	program := filepath.Join(b.dir, "spin")
	b.run("gcc", "-g", "-O0", "-o", program, "testdata/programs/spin.c")
	for _, name := range []string{"sdm", "sdm-server", "sdm-master"} {
		b.build(filepath.Join(b.dir, name))
	}
	j, err := eclipse.Launch(eclipse.Spec{Ranks: manyRanks, SDM: filepath.Join(b.dir, "sdm"), Dir: b.dir,
		Env: append(b.starterEnv(), "HOME="+b.dir), Port: eclipsePort})
	if err != nil {
		fatal("Eclipse", err)
	}
	e := &eclipseBench{b, j}
	e.measure(program)
	if err := j.Close(); err != nil {
		fmt.Fprintf(os.Stderr, "bench: sdm --master: %v\n%s", err, j.Errors.String())
	}
}

// eclipseBench is a job that is measured.
type eclipseBench struct {
	*bench
	job *eclipse.Job
}

// measure measures a session of Eclipse from its start to its end.
func (e *eclipseBench) measure(program string) {
	began := time.Now()
	e.must(nil, e.job.Begin(program))
	e.row("start answered", time.Since(began), eclipseStart)
	e.must(e.job.Ask(eclipse.BreakSet, eclipse.FuncBreak, e.job.All(), "0", "0", "0", "", "main", "", "0", "0"))
	e.must(e.job.Resume(eclipse.Go))
	stops, most := 0, 0
	step := func() {
		found, err := e.job.Resume(eclipse.Step, "1", "1")
		e.must(found, err)
		stops, most = stops+len(found), max(most, len(found))
	}
	step() // over the line that sets the variable rank
	e.row("evaluate, the same value", medianOf(eclipseLaps, func() { e.evaluate("stop") }), eclipseSame)
	e.row("evaluate, a value each", medianOf(eclipseLaps, func() { e.evaluate("rank") }), eclipseDiffer)
	stops, most = 0, 0
	e.row("step over, until all have stopped", medianOf(eclipseLaps, step), eclipseStep)
	what := fmt.Sprintf("Eclipse PTP, %d ranks: stop events of a step, mean", manyRanks)
	e.table.add(row{what: what, unit: "", ours: float64(stops) / eclipseLaps, limit: limit{most: 4}})
	e.progress("at most %d stop events in a step", most)
	e.must(e.job.Ask(eclipse.OK, eclipse.Terminate, e.job.All()))
	e.must(nil, e.job.End())
}

// evaluate evaluates an expression on all ranks.
func (e *eclipseBench) evaluate(expr string) {
	e.must(e.job.Ask(eclipse.Data, eclipse.Evaluate, e.job.All(), expr))
}

// must ends the measurements after an error.
func (e *eclipseBench) must(_ []eclipse.Packet, err error) {
	if err != nil {
		e.job.Close()
		fatal("Eclipse", err)
	}
}

// row adds a row to the table.
func (e *eclipseBench) row(what string, took time.Duration, most float64) {
	what = fmt.Sprintf("Eclipse PTP, %d ranks: %s", manyRanks, what)
	e.table.add(row{what: what, unit: "ms", ours: ms(took), limit: limit{most: most}})
}
