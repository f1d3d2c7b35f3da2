// How gdb is started.

package gdb

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/values"
)

// Config says which gdb is used and how. The zero value is valid.
type Config struct {
	// Path is the gdb to run: a path, or a name that is looked up in PATH. "" means
	// "gdb".
	Path string
	// Staged returns the path of a gdb that has been copied to this node, "" until
	// then; it takes precedence over Path. nil: none is copied.
	Staged func() string
	// Args are passed to gdb unchanged, after sdm's own arguments.
	Args []string
	// DebugFiles is gdb's debug-file-directory: where it looks for separate debug files
	// of system libraries. "" means nowhere: with them a small program takes 10 times
	// as long to reach main and three times the memory (measured with gdb 13.1 and
	// libc6-dbg).
	DebugFiles string
	// EagerSymbols leaves debug-file-directory as gdb was compiled, and DebugFiles is
	// ignored; gdb also reads the symbols of all libraries when it attaches, otherwise only
	// those that commands need.
	EagerSymbols bool
	// IndexCache is the directory with the indexes of the symbols of programs that
	// earlier gdbs have made; "" means none. See indexcache.Open.
	IndexCache string
	// RanksPerGDB is the maximum number of ranks that share a gdb; 0: the engine
	// decides by the numbers of ranks and of processor cores.
	RanksPerGDB int
	// Reverse records the execution of ranks from their first stop on, so that they can
	// run backwards. gdb refuses that in non-stop mode and in a shared gdb, so each
	// rank has a gdb of its own, in all-stop mode. In that mode a rank that blocks
	// SIGINT cannot be interrupted.
	Reverse bool
	// StartWait is how long gdbs may take to get their ranks under control, for targets
	// without Within. 0: two minutes for the first line of each gdb, and no limit for an
	// attach.
	StartWait time.Duration
	// OwnEnvironment returns another environment for a gdb that does not start with this process's:
	// this process has the environment of a rank, which may name a library that the gdb cannot use.
	// The other one may be what this process had before. how says how the gdb is started then; a nil
	// env: there is no other. It may be nil.
	OwnEnvironment func() (env []string, how string)
	// Custody learns which processes to release if this process is killed; see
	// custody.Custodian. The engine closes it. nil: processes are not released then.
	Custody Custody
	// Ahead has gdbs that were started already with this configuration; nil: there are none. The
	// engine closes it.
	Ahead *Ahead
	// IgnoreAborts lets ranks that call MPI_Abort run on; otherwise they stop there.
	IgnoreAborts bool
	// StandIns says that the targets are not the processes that gdb reports, as with a
	// tape: their files are not read.
	StandIns bool
	// Log receives reports of panics with their stacks; nil: they are not logged.
	Log *slog.Logger
}

// defersSymbols reports whether gdbs that attach read symbols of libraries only when they are
// needed.
func (c Config) defersSymbols() bool { return !c.EagerSymbols && !c.Reverse }

// path returns the gdb to start now.
func (c Config) path() string {
	if c.Staged != nil {
		if path := c.Staged(); path != "" {
			return path
		}
	}
	return c.Path
}

// Validate returns an error that names an invalid field and the reason.
func (c Config) Validate() error {
	if strings.ContainsAny(c.DebugFiles, "\n\x00") {
		return fmt.Errorf("the directory of debug files holds a line break: %q", c.DebugFiles)
	}
	switch {
	case c.RanksPerGDB < 0:
		return fmt.Errorf("the number of ranks of one gdb is negative: %d", c.RanksPerGDB)
	case c.RanksPerGDB > 1 && c.Reverse:
		return fmt.Errorf("to run backwards each rank needs a gdb of its own, not one for %d", c.RanksPerGDB)
	}
	return nil
}

// CommandLine returns the program and its arguments. Settings are passed by -iex,
// before anything is loaded.
//
// The interpreter is mi4. It equals mi3 except for breakpoints with commands, which mi3
// prints against its own grammar (GDB manual, GDB/MI, Development and Front Ends). A
// gdb older than 13 does not know mi4; it says so and ends, and is started again with
// mi3, which gdb 9 and later know.
func (c Config) CommandLine() []string { return c.commandLine("mi4", "", false, false) }

// commandLine is CommandLine for an interpreter. indexes is the directory of its index cache; ""
// means none. deferSymbols defers symbols of libraries.
func (c Config) commandLine(interpreter, indexes string, deferSymbols, allStop bool) []string {
	path, files := c.path(), c.DebugFiles
	if path == "" {
		path = "gdb"
	}
	if files == "" {
		files = values.NoDebugFiles
	}
	line := []string{path, "-nx", "-q", "--interpreter=" + interpreter}
	if !c.EagerSymbols {
		line = append(line, "-iex", "set "+values.DebugFilesVariable+` = $_gdb_setting_str("debug-file-directory")`)
	}
	for _, setting := range []string{
		"debuginfod enabled off", // no network access
		"style enabled off",      // no escape sequences
		"auto-load off",          // files of a program may contain scripts
		// Scripts that came with gdb are loaded: they show C++ containers. They cost
		// nothing where no program needs them (measured: the same time and memory for a
		// program in C).
		"auto-load safe-path $datadir/auto-load",
		"auto-load python-scripts on",
		"mi-async on", // otherwise gdb reads no command while a rank runs
		c.threadMode(allStop),
		"confirm off",
		"pagination off",
		"charset UTF-8", // as terminals and JSON; in the C locale gdb would write octal
		"width 0",
		"height 0",
		"breakpoint pending off", // an unknown location is an error
		"print elements 200",
		"max-value-size " + strconv.Itoa(values.MaxFetched), // else 200 elements per dimension
		"debug-file-directory " + files,
	} {
		if !c.EagerSymbols || !strings.HasPrefix(setting, "debug-file-directory") {
			line = append(line, "-iex", "set "+setting)
		}
	}
	if indexes != "" {
		on := "index-cache enabled on"
		if interpreter == "mi3" { // the form for gdb before 13; all of them know it
			on = "index-cache on"
		}
		line = append(line, "-iex", "set index-cache directory "+indexes, "-iex", "set "+on)
	}
	if deferSymbols {
		line = append(line, "-iex", "set auto-solib-add off")
	}
	if interpreter == "mi3" {
		line = append(line, "-iex", debugger.DebugOnGDB10)
	}
	return append(line, c.Args...)
}

// threadMode is non-stop, in which a target that blocks SIGINT can be stopped.
// Recording needs all-stop; a full record discards its oldest part.
func (c Config) threadMode(allStop bool) string {
	switch {
	case c.Reverse:
		return "record full stop-at-limit off"
	case allStop:
		return "non-stop off"
	}
	return "non-stop on"
}
