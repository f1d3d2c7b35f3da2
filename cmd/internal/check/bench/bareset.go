// The ranks of a program under bare gdbs, and the requests of the loop.

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

// bareSet contains the ranks of a program, stopped in main, under bare gdbs that have several ranks
// each.
type bareSet struct {
	forker *local.Forker
	ranks  []*local.Process
	gdbs   []*bareGDB
}

// startBare does only what the start of a session needs, in all gdbs concurrently: hold, attach,
// breakpoint in main, continue, wait for the stops.
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

// pieces divides n ranks into pieces of at most per ranks, as the back end does.
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

// startPiece starts ranks first to last-1 and runs them to main.
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

// attachBare attaches to running processes, in all gdbs concurrently. Each gdb gets at most per of
// them.
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

// round is one round over the first n ranks: all are sent the same request, and take gets the
// answer of each. The meaning of argument depends on the round.
type round func(s *bareSet, n int, argument string, take func([]byte))

// rounds are the rounds that a relay offers.
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

// each calls ask for the gdbs of the first n ranks, to queue commands, and sends these to all gdbs.
// Then it calls read for each gdb. ask and read get the number of ranks of the gdb that are meant.
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

// evaluate evaluates an expression.
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

// goOn continues to the next breakpoint.
func (s *bareSet) goOn(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).resume, func(g *bareGDB, ranks int) { g.until(ranks, isHit, take) })
}

// run resumes the ranks.
func (s *bareSet) run(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).resume, func(g *bareGDB, ranks int) { g.until(ranks, isRunning, take) })
}

// stacks lists the stack of every thread.
func (s *bareSet) stacks(n int, _ string, take func([]byte)) {
	s.each(n, (*bareGDB).listStacks, func(g *bareGDB, _ int) { g.until(len(g.threads), isDone, take) })
}

// backtrace executes backtrace as gdb's prompt does.
func (s *bareSet) backtrace(n int, _ string, take func([]byte)) {
	s.each(n, func(g *bareGDB, ranks int) {
		for _, thread := range g.threads[:ranks] {
			g.add(`-interpreter-exec --thread %s console "backtrace"`, thread)
		}
	}, func(g *bareGDB, ranks int) { g.until(ranks, isDone, take) })
}

// sample lists the stack of every thread of running ranks.
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

// listStacks queues a request for the stack of every thread of all inferiors, whatever its argument.
func (g *bareGDB) listStacks(int) {
	for _, thread := range g.threads {
		g.add("-stack-list-frames --thread %s 0 999", thread)
	}
}
