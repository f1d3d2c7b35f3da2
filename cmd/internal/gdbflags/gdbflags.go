// Package gdbflags declares the flags about gdb, which sdm and sdm-server share.
package gdbflags

import (
	"fmt"

	"github.com/spf13/pflag"

	"sdm/backend/gdb"
	"sdm/backend/gdb/indexcache"
)

// Values are the values of the flags about gdb. The zero value stands for the defaults.
type Values struct {
	Path         string   // of gdb; "": gdb in PATH
	Args         []string // further arguments for each gdb
	RanksPerGDB  string   // a number, or "auto"
	IndexCache   string   // a directory, "auto" or "off"
	Reverse      bool     // ranks are recorded
	EagerSymbols bool     // all symbols are read at once
	IgnoreAborts bool     // ranks that call MPI_Abort do not stop
}

// auto is the value of RanksPerGDB and IndexCache that leaves the choice to the server.
const auto = "auto"

// Declare adds the flags to f.
func (v *Values) Declare(f *pflag.FlagSet) {
	f.StringVar(&v.Path, "gdb", "", "`path` of gdb (default: gdb in PATH)")
	f.StringArrayVar(&v.Args, "gdb-arg", nil, "further `argument` for each gdb; may repeat")
	f.StringVar(&v.RanksPerGDB, "ranks-per-gdb", auto, "`number` of ranks that share a gdb, or auto: up to 8 where there are many")
	f.StringVar(&v.IndexCache, "index-cache", auto, "where the gdbs of a node keep indexes of symbols for one another: auto (`DIR` in /tmp), off, or a directory")
	f.BoolVar(&v.IgnoreAborts, "ignore-aborts", false, "let ranks run on that call MPI_Abort; else they stop there")
	f.BoolVar(&v.EagerSymbols, "eager-symbols", false, "read separate debug files of libraries, too, and all symbols at once: slower to start, three times the memory")
	f.BoolVar(&v.Reverse, "reverse", false, "record what the ranks do from their first stop on, so that they can run backwards: a gdb each, and a thousand times slower (help reverse-continue)")
}

// Check returns the first value that is wrong.
func (v *Values) Check() error {
	if _, err := gdb.ParseShare(v.RanksPerGDB); err != nil {
		return fmt.Errorf("--ranks-per-gdb %w", err)
	}
	if _, err := indexcache.Parse(v.IndexCache); err != nil {
		return fmt.Errorf("--index-cache %w", err)
	}
	return nil
}

// Line returns the flags for a server that is to have the same values.
func (v *Values) Line() []string {
	var line []string
	if v.Path != "" {
		line = append(line, "--gdb", v.Path)
	}
	for _, a := range v.Args {
		line = append(line, "--gdb-arg", a)
	}
	if v.RanksPerGDB != auto && v.RanksPerGDB != "" {
		line = append(line, "--ranks-per-gdb", v.RanksPerGDB)
	}
	if v.IndexCache != auto && v.IndexCache != "" {
		line = append(line, "--index-cache", v.IndexCache)
	}
	for _, s := range []struct {
		flag  string
		given bool
	}{{"--reverse", v.Reverse}, {"--ignore-aborts", v.IgnoreAborts}, {"--eager-symbols", v.EagerSymbols}} {
		if s.given {
			line = append(line, s.flag)
		}
	}
	return line
}

// Config returns the configuration of the gdb back end, as far as flags determine it.
func (v *Values) Config() (gdb.Config, error) {
	share, err := gdb.ParseShare(v.RanksPerGDB)
	if err != nil {
		return gdb.Config{}, err
	}
	cache, err := indexcache.Parse(v.IndexCache)
	return gdb.Config{
		Path: v.Path, Args: v.Args, RanksPerGDB: share, IndexCache: cache,
		Reverse: v.Reverse, EagerSymbols: v.EagerSymbols, IgnoreAborts: v.IgnoreAborts,
	}, err
}
