// Gdbs that are started before it is known which ranks they get.

package gdb

import (
	"slices"

	"sdm/backend/gdb/indexcache"
)

// Ahead consists of gdbs that are started before there is an engine: the start of a gdb takes as
// long as its attach, and a server may have to wait until the ranks are found. The first gdbs for
// ranks that are attached to are taken from it. The gdbs that are left then are ended.
//
// StartAhead starts the goroutine of the forker, which belongs to the Engine from New on. An Ahead
// that is given to no Engine must be closed.
type Ahead struct {
	forker  *forker
	indexes *indexcache.Cache
	gdbs    []*aheadGDB
}

// aheadGDB is one of these gdbs. What it writes waits in its pipe, 3 kB, until it is taken.
type aheadGDB struct {
	number int32 // of its directory of indexes, and of the gdbProcess that takes it
	argv   []string
	// The following belong to the forker, which writes them when it has executed the order.
	process *process
	err     error
}

// StartAhead starts n gdbs for an engine with this configuration, which must be valid. It does not
// wait for them.
func StartAhead(cfg Config, n int) *Ahead {
	a := &Ahead{forker: newForker(), indexes: openIndexes(cfg)}
	for i := range n {
		g := &aheadGDB{number: int32(i + 1)}
		g.argv = cfg.commandLine("mi4", a.indexes.Dir(g.number), cfg.defersSymbols(), cfg.Reverse)
		a.gdbs = append(a.gdbs, g)
		a.forker.start(order{argv: g.argv, done: func(p *process, err error) {
			g.process, g.err = p, err
		}})
	}
	for _, g := range a.gdbs { // they read no symbols before they attach
		a.forker.do(func() { a.indexes.Borrow(g.number) })
	}
	return a
}

// Close ends the gdbs and waits for that.
func (a *Ahead) Close() error {
	a.end()
	a.forker.close()
	return a.indexes.Close()
}

// end makes the forker end the gdbs that were not taken.
func (a *Ahead) end() {
	for _, g := range a.gdbs {
		a.forker.do(func() { // after the order that starts it
			if g.process != nil {
				g.process.kill()
				g.process.reap()
				g.process.close()
			}
			a.indexes.Return(g.number)
		})
	}
	a.gdbs = nil
}

// takeAhead gives an entry one of the gdbs that were started before, if the entry has the same
// command line. The entry gets its number.
func (l *loop) takeAhead(k *gdbProcess, dies bool) bool {
	a := l.ahead
	if a == nil || len(a.gdbs) == 0 || dies || l.e.cfg.OwnEnvironment != nil {
		return false
	}
	g, number := a.gdbs[0], k.number
	k.number = g.number
	if !slices.Equal(l.commandLine(k), g.argv) {
		k.number = number
		return false
	}
	a.gdbs = a.gdbs[1:]
	delete(l.gdbs, number)
	l.gdbs[k.number] = k
	done := l.whenStarted(k)
	l.forker.do(func() { done(g.process, g.err) }) // it is ready when the forker comes to this
	return true
}

// endAhead ends the gdbs that have not been taken.
func (l *loop) endAhead() {
	if l.ahead != nil {
		l.ahead.end()
		l.ahead = nil
	}
}
