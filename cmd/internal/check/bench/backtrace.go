// Backtraces of optimised C++, against those of bare gdbs.

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"sdm/master/session"
)

// fewRanks is how many ranks are asked for a backtrace: as many as fit on a screen.
const fewRanks = 8

// benchBacktrace asks for backtraces with inlined frames, and with twelve frames that have
// arguments.
func benchBacktrace(b *bench) {
	const source = sources + "lattice.cc"
	program := filepath.Join(b.dir, "lattice")
	b.run("g++", "-g", "-O2", "-o", program, source)
	for _, as := range []sharing{alone, {"4 to a gdb", []string{"--ranks-per-gdb", "4"}, 4}, {"8 to a gdb", []string{"--ranks-per-gdb", "8"}, 8}} {
		b.progress("backtraces, %s", as.name)
		p := &pair{b.startRanks(as, fewRanks, program), startRelay(fewRanks, as.per, program), as}
		for _, mark := range []string{"// of the site", "// deepest"} {
			p.breakAt(placeOf(source, mark))
			p.goOn()
			p.relay.ask("continue", fewRanks, "")
			b.benchBacktraces(p, mark[3:])
			p.ask(session.Call{Command: "delete"})
			p.relay.ask("delete", fewRanks, "")
		}
		p.close()
	}
}

// benchBacktraces measures backtraces at the place where the ranks have stopped, with where as its
// name.
func (b *bench) benchBacktraces(p *pair, where string) {
	ask := timed(func() { p.ask(session.Call{Command: "backtrace"}) })
	relay := timed(func() { p.relay.ask("bt", fewRanks, "") })
	compare(1, 5, ask, relay)
	c := compare(20, 5, ask, relay)
	b.table.add(row{what: fmt.Sprintf("backtrace of %d ranks of C++ at -O2, %s, %s", fewRanks, p.as.name, where), unit: "ms",
		ours: ms(c.times[0]), floor: ms(c.times[1]), ratio: c.ratio[1], limit: limit{ratio: 1.5, slack: 20}})
}

// placeOf returns the line of a source that contains a mark, as a location.
func placeOf(source, mark string) string {
	text, err := os.ReadFile(source)
	before, _, found := bytes.Cut(text, []byte(mark))
	if err != nil || !found {
		fatal("place", fmt.Errorf("%q is not in %s (%v)", mark, source, err))
	}
	return fmt.Sprintf("%s:%d", filepath.Base(source), bytes.Count(before, []byte("\n"))+1)
}
