// How gdb is started.

package gdb

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// Config says which gdb debugs and how. The zero value is useful.
type Config struct {
	// Path is the gdb to run: a path, or a name that is looked up in PATH. ""
	// is "gdb".
	Path string
	// Staged gives the path of a gdb that has been brought here meanwhile, "" as long
	// as there is none; it goes before Path. nil: none ever comes.
	Staged func() string
	// Args are handed to gdb behind our own arguments, unchanged.
	Args []string
	// DebugFiles is where gdb looks for separate debug files of system
	// libraries, as its debug-file-directory. "" is nowhere: with them a small
	// program takes 10 times as long to reach main, and three times the memory
	// (measured with gdb 13.1 and libc6-dbg).
	DebugFiles string
	// EagerSymbols lets gdb look for them where it was compiled to, and DebugFiles
	// is ignored; it also reads the symbols of all libraries when it attaches (see unread).
	EagerSymbols bool
	// IndexCache is a directory where gdbs keep indexes of the symbols of programs
	// for one another; "" is none. See indexcache.Open.
	IndexCache string
	// RanksPerGDB is how many ranks share a gdb at most; 0 leaves it to the
	// engine, see share.
	RanksPerGDB int
	// Reverse records what ranks do from their first stop on, so that they can run backwards. gdb refuses
	// that in non-stop, and in a gdb that is shared: each rank has one of its own, in all-stop. The price:
	// a rank that blocks SIGINT cannot be interrupted.
	Reverse bool
	// StartWait bounds how long gdbs may take to have their ranks under control, where targets do not say (Within). 0:
	// silentWait for each gdb, and no limit for an attach.
	StartWait time.Duration
	// OwnEnvironment gives the environment that we had before it was made like that of a rank; nil as long as it was not, or where
	// the function is nil. A gdb gets it that does not start with the other one: a library of the job may not be the one that gdb needs.
	OwnEnvironment func() []string
	// Custody knows what to release if we are killed; see custody.Custodian. The engine closes it.
	// nil: nobody does.
	Custody Custody
	// IgnoreAborts lets ranks run on that call MPI_Abort; else they stop there.
	IgnoreAborts bool
	// StandIns says that the targets are other processes than gdb tells of, as with a tape: nothing
	// is read off their files.
	StandIns bool
	// Log is told of defects, with their stacks; nil: nobody is.
	Log *slog.Logger
}

// path is the gdb to start now.
func (c Config) path() string {
	if c.Staged != nil {
		if path := c.Staged(); path != "" {
			return path
		}
	}
	return c.Path
}

// noDebugFiles is a directory that does not exist. An empty setting would mean
// the one that was compiled in.
const noDebugFiles = "/nonexistent/no-debug-files"

// Validate says which field cannot be, and why.
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

// CommandLine is the program and its arguments. Settings go in by -iex, before
// anything is loaded.
//
// mi4 rather than mi3: equal but for breakpoints with scripts, which mi3 prints
// against its own grammar (GDB manual, GDB/MI, Development and Front Ends).
// gdbs older than 13 do not know it; they say so and end, and are asked for mi3,
// which gdb 9 and later know.
func (c Config) CommandLine() []string { return c.commandLine("mi4", false, false) }

// commandLine is that for an interpreter. A lazy gdb reads symbols of libraries when it is told to.
func (c Config) commandLine(interpreter string, lazy, allStop bool) []string {
	path, files := c.path(), c.DebugFiles
	if path == "" {
		path = "gdb"
	}
	if files == "" {
		files = noDebugFiles
	}
	line := []string{path, "-nx", "-q", "--interpreter=" + interpreter}
	if !c.EagerSymbols {
		line = append(line, "-iex", "set "+debugFilesVariable+` = $_gdb_setting_str("debug-file-directory")`)
	}
	for _, setting := range []string{
		"debuginfod enabled off", // never the network
		"style enabled off",      // escapes, and signs in front of warnings
		"auto-load off",          // a program's files may hold scripts
		// … but those that came with gdb show C++ containers; they cost nothing where no
		// program needs them (measured: the same time and memory for one in C).
		"auto-load safe-path $datadir/auto-load",
		"auto-load python-scripts on",
		"mi-async on", // or no command is heard while a rank runs
		c.threadMode(allStop),
		"confirm off",
		"pagination off",
		"charset UTF-8", // as JSON and terminals are; in the C locale gdb would write octal
		"width 0",
		"height 0",
		"breakpoint pending off", // an unknown place is an error, in gdb's words
		"print elements 200",
		"max-value-size " + strconv.Itoa(mostFetched), // of a larger value gdb would write 200 elements in each dimension
		"debug-file-directory " + files,
	} {
		if !c.EagerSymbols || !strings.HasPrefix(setting, "debug-file-directory") {
			line = append(line, "-iex", "set "+setting)
		}
	}
	if c.IndexCache != "" {
		on := "index-cache enabled on"
		if interpreter == "mi3" { // of a gdb before 13: all of them know this form
			on = "index-cache on"
		}
		line = append(line, "-iex", "set index-cache directory "+c.IndexCache, "-iex", "set "+on)
	}
	if lazy {
		line = append(line, "-iex", "set auto-solib-add off")
	}
	if interpreter == "mi3" {
		line = append(line, "-iex", speakUp)
	}
	return append(line, c.Args...)
}

// threadMode is non-stop, or a target that blocks SIGINT is never stopped; but not where it is
// recorded. A full record forgets what is oldest.
func (c Config) threadMode(allStop bool) string {
	switch {
	case c.Reverse:
		return "record full stop-at-limit off"
	case allStop:
		return "non-stop off"
	}
	return "non-stop on"
}
