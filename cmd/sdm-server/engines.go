// The back ends that a server can open, and how each is configured.

package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/backend/gdb/custody"
	"sdm/backend/gdb/gdbtext"
	"sdm/backend/lazy"
	"sdm/backend/probe"
	"sdm/backend/sim"
	"sdm/launch"
	"sdm/protocol/rank"
)

// engine is an entry of the table of back ends.
type engine struct {
	// open makes the back end as the flags say.
	open func(o *options, log *slog.Logger, k backend.Sink) (backend.Backend, error)
	// name returns the name and version of the engine, for users; nil: unknown.
	name func(o *options) string
	// simulatedPID returns the process ID of a simulated rank; nil if the ranks are real
	// processes.
	simulatedPID func(rank.ID) int
}

// backends is the table of back ends, by the values of --backend.
var backends = map[string]engine{
	"gdb":   {open: openGDB, name: gdbName},
	"sim":   {open: openSim, simulatedPID: sim.PID},
	"probe": {open: openProbe, name: func(*options) string { return "probe" }},
	"lazy":  {open: openLazy, name: gdbName},
}

// openGDB opens the back end that debugs with gdb.
func openGDB(o *options, log *slog.Logger, k backend.Sink) (backend.Backend, error) {
	cfg, err := o.configGDB(log)
	if err != nil {
		return nil, err
	}
	cfg.Ahead, cfg.Custody = o.early.ahead, newCustodian(log)
	if o.early.ahead != nil {
		cfg.Custody = o.early.custody
	}
	engine, err := probe.WithWaits(func(k backend.Sink) (backend.Backend, error) { return gdb.New(cfg, k) }, k)
	if err == nil {
		o.early = early{}
	}
	return engine, err
}

// newCustodian makes the custodian of the server's gdbs.
func newCustodian(log *slog.Logger) *custody.Custodian {
	return custody.New(func(err error) { log.Warn("a server that is killed now leaves ranks stopped", "err", err) })
}

// early is what is started before there is an engine; nil: it was not, or the engine has it.
type early struct {
	ahead   *gdb.Ahead
	custody *custody.Custodian
}

// configGDB returns what the flags say about gdb.
func (o *options) configGDB(log *slog.Logger) (gdb.Config, error) {
	cfg, err := o.gdb.Config()
	cfg.Staged, cfg.StartWait, cfg.Log = o.received.Path, o.startWait, log
	switch {
	case o.like:
		cfg.OwnEnvironment = func() ([]string, string) { return o.ownEnvironment(), "with that of its server" }
	case o.gdbsAhead == 0: // a starter may have given us what it was told to give the ranks
		cfg.OwnEnvironment = func() ([]string, string) { return withoutLoader(os.Environ()), "without LD_LIBRARY_PATH and the like" }
	}
	return cfg, err
}

// withoutLoader returns an environment without the variables that lead the dynamic loader; nil if it has
// none of them.
func withoutLoader(env []string) []string {
	rest := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return slices.Contains([]string{"LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"}, name)
	})
	if len(rest) == len(env) {
		return nil
	}
	return rest
}

// startAhead starts the gdbs that --gdbs-ahead asks for, and the custodian.
func (o *options) startAhead(log *slog.Logger) error {
	if o.gdbsAhead == 0 || o.backend != "gdb" {
		return nil
	}
	cfg, err := o.configGDB(log)
	if err == nil {
		err = cfg.Validate()
	}
	if err == nil {
		o.early = early{gdb.StartAhead(cfg, o.gdbsAhead), newCustodian(log)}
		o.early.custody.Prepare()
	}
	return err
}

// endAhead ends what startAhead has started if no engine has got it.
func (o *options) endAhead(log *slog.Logger) {
	if o.early.ahead == nil {
		return
	}
	if err := o.early.ahead.Close(); err != nil {
		log.Warn("gdbs that were not used", "err", err)
	}
	o.early.custody.Close()
}

// openSim opens the back end of simulated ranks.
func openSim(_ *options, _ *slog.Logger, k backend.Sink) (backend.Backend, error) {
	return sim.New(sim.Config{}, k), nil
}

// openProbe opens the back end that reads stacks without a debugger.
func openProbe(o *options, log *slog.Logger, k backend.Sink) (backend.Backend, error) {
	debugFiles := ""
	if o.gdb.EagerSymbols {
		debugFiles = probe.DebugFiles
	}
	return probe.New(k, log, debugFiles), nil
}

// openLazy opens a back end in which the probe watches the ranks until a command needs gdb.
func openLazy(o *options, log *slog.Logger, k backend.Sink) (backend.Backend, error) {
	look := func(k backend.Sink) (backend.Backend, error) { return openProbe(o, log, k) }
	debug := func(k backend.Sink) (backend.Backend, error) { return openGDB(o, log, k) }
	return lazy.New(look, debug, k)
}

// versionWait limits the time that gdb takes to show its version. It may have to be loaded from a
// slow file system.
const versionWait = 10 * time.Second

// gdbName asks gdb for its version.
func gdbName(o *options) string {
	path := o.gdb.Path
	if staged := o.received.Path(); staged != "" {
		path = staged
	} else if path == "" {
		path = "gdb"
	}
	text, err := askVersion(path, versionWait)
	if err != nil {
		return err.Error()
	}
	if major, minor, ok := gdbtext.Version(text); ok {
		return fmt.Sprintf("gdb %d.%d", major, minor)
	}
	return "gdb of an unknown version"
}

// askVersion asks a gdb for its version.
func askVersion(path string, wait time.Duration) (string, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), wait, fmt.Errorf("%v are over (is the machine busy, or the file system slow?)", wait))
	defer cancel()
	text, err := launch.Ask(ctx, nil, []string{path, "-nx", "--version"})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("no gdb (%w)", err)
	}
	return text, err
}
