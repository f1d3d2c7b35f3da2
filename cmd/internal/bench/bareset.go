// The ranks of a program under bare gdbs, and what a loop asks of them.

package main

import (
	"io"
	"iter"
	"os"
	"strconv"
	"sync"

	"sdm/launch/local"
	"sdm/protocol/rank"
)

// bareSet is some ranks of a program under bare gdbs, so many to each, stopped in
// main.
type bareSet struct {
	forker *local.Forker
	ranks  []*local.Process
	gdbs   []*bareGDB
}

// startBare does what the start of a session does, and no more: hold, attach,
// breakpoint in main, continue, wait for the stops; all gdbs at once.
func startBare(line []string, ranks, per int) *bareSet {
	s := &bareSet{forker: local.NewForker(), ranks: make([]*local.Process, ranks)}
	var all sync.WaitGroup
	for first, last := range pieces(ranks, per) {
		g := startBareGDB()
		s.gdbs = append(s.gdbs, g)
		all.Go(func() { s.startPiece(g, line, first, last) })
	}
	all.Wait()
	return s
}

// pieces cuts n ranks into pieces of at most per, as the engine does.
func pieces(n, per int) iter.Seq2[int, int] {
	return func(yield func(first, last int) bool) {
		count := (n + per - 1) / per
		for i := range count {
			if !yield(i*n/count, (i+1)*n/count) {
				return
			}
		}
	}
}

// startPiece starts ranks first to last-1 and brings them to main.
func (s *bareSet) startPiece(g *bareGDB, line []string, first, last int) {
	var pids []int
	for i := first; i < last; i++ {
		p, err := s.forker.Hold(local.Spec{
			Rank: rank.ID(i), Program: line[0], Args: line[1:],
			Env: append(os.Environ(), "SDM_RANK="+strconv.Itoa(i), "SDM_SIZE="+strconv.Itoa(len(s.ranks))),
		})
		if err != nil {
			fatal("bare rank", err)
		}
		go io.Copy(io.Discard, p.Stdout)
		go io.Copy(io.Discard, p.Stderr)
		s.ranks[i] = p
		pids = append(pids, p.PID)
	}
	g.attach(true, pids...)
	g.toMain(s.ranks[first:last])
}

// attachBare takes running processes, so many to a gdb and all gdbs at once.
func attachBare(pids []int, per int) []*bareGDB {
	gdbs := make([]*bareGDB, 0, len(pids))
	var all sync.WaitGroup
	for first, last := range pieces(len(pids), per) {
		g := startBareGDB("-iex", "set auto-solib-add off") // as sdm's
		gdbs = append(gdbs, g)
		all.Go(func() { g.attach(false, pids[first:last]...) })
	}
	all.Wait()
	return gdbs
}

// close kills ranks and gdbs and waits for them.
func (s *bareSet) close() {
	for _, g := range s.gdbs {
		g.kill()
	}
	for _, p := range s.ranks {
		p.Kill()
	}
	s.forker.Close()
}

// round is one round over the first n ranks: one thing is asked of each, all at
// once, and take gets the answer of each. argument is what it needs to know.
type round func(s *bareSet, n int, argument string, take func([]byte))

// rounds are those that a relay can be asked for.
var rounds = map[string]round{
	"print":    (*bareSet).evaluate,
	"break":    (*bareSet).breakAt,
	"continue": (*bareSet).goOn,
	"run":      (*bareSet).run,
	"stacks":   (*bareSet).stacks,
	"sample":   (*bareSet).sample,
	"bt":       (*bareSet).backtrace,
	"delete":   (*bareSet).delete,
}

// each writes to the gdbs of the first n ranks, all before the first has answered,
// and then reads from each. ask and read are told how many ranks of the gdb are
// meant.
func (s *bareSet) each(n int, ask, read func(g *bareGDB, ranks int)) {
	meant := func(f func(g *bareGDB, ranks int)) {
		left := n
		for _, g := range s.gdbs {
			if left <= 0 {
				return
			}
			f(g, min(left, g.inferiors))
			left -= g.inferiors
		}
	}
	meant(func(g *bareGDB, ranks int) { ask(g, ranks); g.say() })
	meant(read)
}

// evaluate is an expression.
func (s *bareSet) evaluate(n int, expr string, take func([]byte)) {
	s.each(n, func(g *bareGDB, ranks int) {
		for _, thread := range g.threads[:ranks] {
			g.add(`-data-evaluate-expression --thread %s --frame 0 " %s"`, thread, expr)
		}
	}, func(g *bareGDB, ranks int) { g.until(ranks, isDone, take) })
}

// breakAt sets a breakpoint, one for all ranks of a gdb.
func (s *bareSet) breakAt(n int, location string, take func([]byte)) {
	s.each(n, func(g *bareGDB, _ int) { g.add("-break-insert %s", location) },
		func(g *bareGDB, _ int) { g.until(1, isDone, take) })
}

// delete deletes all breakpoints.
func (s *bareSet) delete(n int, _ string, take func([]byte)) {
	s.each(n, func(g *bareGDB, _ int) { g.add("-break-delete") },
		func(g *bareGDB, _ int) { g.until(1, isDone, take) })
}

// goOn is continue to the next breakpoint.
func (s *bareSet) goOn(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).resume, func(g *bareGDB, ranks int) { g.until(ranks, isHit, take) })
}

// run lets the ranks run.
func (s *bareSet) run(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).resume, func(g *bareGDB, ranks int) { g.until(ranks, isRunning, take) })
}

// stacks is the stack of every thread.
func (s *bareSet) stacks(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).listStacks, func(g *bareGDB, _ int) { g.until(len(g.threads), isDone, take) })
}

// backtrace is what a person at gdb's prompt would see.
func (s *bareSet) backtrace(n int, _ string, take func([]byte)) {
	s.each(n, func(g *bareGDB, ranks int) {
		for _, thread := range g.threads[:ranks] {
			g.add(`-interpreter-exec --thread %s console "backtrace"`, thread)
		}
	}, func(g *bareGDB, ranks int) { g.until(ranks, isDone, take) })
}

// sample is the stack of every thread of ranks that run.
func (s *bareSet) sample(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).addInterrupts, func(g *bareGDB, ranks int) {
		g.interrupted(ranks)
		g.listStacks(ranks)
		g.say()
	})
	s.each(n, func(*bareGDB, int) {}, func(g *bareGDB, ranks int) {
		g.until(len(g.threads), isDone, take)
		g.resume(ranks)
		g.say()
		g.until(ranks, isRunning, nil)
	})
}

// listStacks asks for the stack of every thread, whosoever it is.
func (g *bareGDB) listStacks(int) {
	for _, thread := range g.threads {
		g.add("-stack-list-frames --thread %s 0 999", thread)
	}
}
