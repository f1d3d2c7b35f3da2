// The event loop that owns all machines and processes.

package gdb

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend"
	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/indexcache"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/sourcefile"
	"sdm/protocol/rank"
)

// loop owns the state of an engine. One turn processes the output of all gdbs and all
// requests that have arrived, and then calls the Sink once for each request: print on 64 ranks
// takes a few turns instead of several switches between goroutines for each rank.
type loop struct {
	e         *Engine
	sink      backend.Sink
	forker    *forker
	ahead     *Ahead // nil: no gdbs are left that were started before
	indexes   *indexcache.Cache
	custody   Custody
	sources   *sourcefile.Files
	hashers   *inferior.Hashers
	lookups   *afterEnd
	programs  inferior.Programs
	maps      inferior.Maps
	began     time.Time
	gdbs      map[int32]*gdbProcess  // by number
	entries   map[int32]*rankEntry   // by number
	ranks     map[rank.ID]*rankEntry // the latest entry of each rank
	last      int32
	touched   []*gdbProcess      // their effects are to be executed
	messages  []debugger.Message // for the sink, in order
	next      time.Duration      // when tick is due; 0: never
	armed     time.Duration      // the deadline that the poller has
	beforeMI4 bool               // gdb does not know mi4
	// gdbs are started with Config.OwnEnvironment, since one did not start with the environment of the
	// ranks
	serverEnv bool
	closing   bool
	forced    bool // the deadline of Close has passed
	ctx       context.Context
	buffer    [64 << 10]byte
}

func newLoop(e *Engine, sink backend.Sink) *loop {
	var custody Custody = noCustody{}
	if e.cfg.Custody != nil {
		custody = e.cfg.Custody
	}
	l := &loop{
		e: e, sink: sink, custody: custody, sources: sourcefile.New(), hashers: inferior.NewHashers(), began: time.Now(),
		gdbs: map[int32]*gdbProcess{}, entries: map[int32]*rankEntry{}, ranks: map[rank.ID]*rankEntry{},
		lookups: newAfterEnd(), ctx: context.Background(),
	}
	if a := e.cfg.Ahead; a != nil {
		l.ahead, l.forker, l.indexes, l.last = a, a.forker, a.indexes, int32(len(a.gdbs))
		return l
	}
	l.forker, l.indexes = newForker(), openIndexes(e.cfg)
	return l
}

// openIndexes opens the index cache. Without it the engine is slower.
func openIndexes(cfg Config) *indexcache.Cache {
	if cfg.IndexCache == "" {
		return nil
	}
	c, err := indexcache.Open(cfg.IndexCache)
	if err != nil {
		cfg.log().Warn("gdb does without its index cache", "err", err)
		return nil
	}
	return c
}

func (l *loop) now() time.Duration { return time.Since(l.began) }

// touch marks a gdb for execution of its effects and of its machines' effects.
func (l *loop) touch(k *gdbProcess) {
	if !k.touched {
		k.touched = true
		l.touched = append(l.touched, k)
	}
}

func (l *loop) signal(s *rankEntry, g debugger.Signal) {
	sig := unix.SignalNum(g.Sig)
	switch {
	case g.To == debugger.ToGDB && s.gdb.process != nil:
		s.gdb.process.signal(sig)
	case g.To == debugger.ToTarget:
		l.continued(s, sig)
		s.target.Signal(sig)
	case g.To == debugger.ToGroup:
		s.target.SignalGroup(sig)
	}
}
