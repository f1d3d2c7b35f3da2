package main

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"time"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/backend/gdb/custody"
	"sdm/backend/gdb/indexcache"
	"sdm/backend/sim"
	"sdm/protocol/rank"
)

// engine is one row of the table of back ends.
type engine struct {
	// open makes the back end, configured by the flags.
	open func(o *options, log *slog.Logger, k backend.Sink) (backend.Backend, error)
	// name names it and its version, for people; nil: nobody can tell.
	name func(o *options) string
	// simulatedPID is what stands for a rank's process id where there are no
	// processes to fork; nil where there are.
	simulatedPID func(rank.ID) int
}

// backends is the table of back ends, by the name that --backend takes.
var backends = map[string]engine{
	"gdb": {open: openGDB, name: gdbName},
	"sim": {open: openSim, simulatedPID: sim.PID},
}

func openGDB(o *options, log *slog.Logger, k backend.Sink) (backend.Backend, error) {
	share, err := gdb.ParseShare(o.ranksPerGDB)
	if err != nil {
		return nil, err
	}
	cache, err := indexcache.Parse(o.indexCache)
	if err != nil {
		return nil, err
	}
	if cache != "" {
		if err := indexcache.Open(cache); err != nil {
			log.Warn("gdb does without its index cache", "err", err)
			cache = ""
		}
	}
	return gdb.New(gdb.Config{
		Path: o.gdb, Staged: o.received.Path, Args: o.gdbArgs, RanksPerGDB: share, EagerSymbols: o.eagerSymbols, IndexCache: cache, Reverse: o.reverse, IgnoreAborts: o.ignoreAborts,
		StartWait: o.startWait, OwnEnvironment: o.ownEnvironment,
		Log: log, Custody: custody.New(func(err error) { log.Warn("a server that is killed now leaves ranks stopped", "err", err) }),
	}, k)
}

func openSim(_ *options, _ *slog.Logger, k backend.Sink) (backend.Backend, error) {
	return sim.New(sim.Config{}, k), nil
}

// gdbAnswers is how long gdb may take to say its version: it may have to be loaded
// from a file system that is cold.
const gdbAnswers = 10 * time.Second

// gdbName asks gdb for its version.
func gdbName(o *options) string {
	path := o.gdb
	if staged := o.received.Path(); staged != "" {
		path = staged
	} else if path == "" {
		path = "gdb"
	}
	ctx, cancel := context.WithTimeout(context.Background(), gdbAnswers)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, "-nx", "--version").Output()
	if err != nil {
		return "no gdb (" + err.Error() + ")"
	}
	if major, minor, ok := gdb.Version(string(text)); ok {
		return fmt.Sprintf("gdb %d.%d", major, minor)
	}
	return "gdb of an unknown version"
}
