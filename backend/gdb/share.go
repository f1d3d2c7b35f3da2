// Which ranks share a gdb.

package gdb

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
)

const (
	// usualShare is how many started ranks share a gdb if there are many: they reach
	// main five times faster than with a gdb each, and take a sixth of the memory. With
	// more of them each library that one of them loads costs more, because gdb checks
	// all ranks (docs/decisions/033-ranks-per-gdb.md).
	usualShare = 8
	// gdbsPerCore is the minimum number of gdbs per core before ranks share one: they
	// work in parallel. For more attached ranks it is one: most of an attach is the
	// start of a gdb and its first check of the libraries (the same page).
	gdbsPerCore         = 2
	gdbsPerCoreAttached = 1
	// maxUnshared bounds that minimum: beyond it memory (11 MB for each gdb) matters more
	// than the independence of ranks.
	maxUnshared = 16
)

// ParseShare parses a number for RanksPerGDB, from 1 on, or "auto" or "", which is 0.
func ParseShare(text string) (int, error) {
	if text == "auto" || text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: give auto or a number from 1 on", text)
	}
	return n, nil
}

// share groups targets that are to share a gdb, in order. Only ranks of one program do:
// a breakpoint is looked up in all programs of a gdb.
func (c Config) share(targets []backend.Target) [][]backend.Target {
	var all [][]backend.Target
	for _, group := range partition(targets) {
		per := c.RanksPerGDB
		if c.Reverse || group[0].Wraps || slices.ContainsFunc(group[0].Before, breakpoint.NeedsOwnGDB) {
			// when a wrapper starts another program, gdb 13.1 may leave breakpoints in
			// other ranks
			per = 1
		}
		if per == 0 {
			per = autoShare(len(group), runtime.NumCPU(), !group[0].Held && group[0].Core == "")
		}
		all = append(all, evenly(group, per)...)
	}
	return all
}

// autoShare returns how many of n ranks of one program share a gdb on a machine with so
// many cores.
func autoShare(n, cores int, attached bool) int {
	perCore := gdbsPerCore
	if attached && n > gdbsPerCore*cores {
		perCore = gdbsPerCoreAttached
	}
	gdbs := max((n+usualShare-1)/usualShare, min(n, perCore*cores, maxUnshared))
	return (n + gdbs - 1) / gdbs
}

// partition separates targets of different programs or gdb settings, and held ones from
// others. A target with a Root, which names its process, gets a gdb of its own: a gdb has one
// root.
func partition(targets []backend.Target) [][]backend.Target {
	type kind struct {
		program, root, settings string
		held, own               bool
	}
	index := map[kind]int{}
	var all [][]backend.Target
	for _, t := range targets {
		k := kind{t.Program, t.Root, settingsOf(t), t.Held, slices.ContainsFunc(t.Before, breakpoint.NeedsOwnGDB)}
		i, ok := index[k]
		if !ok {
			i = len(all)
			index[k] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], t)
	}
	return all
}

// settingsOf returns the gdb settings of a target that starts again.
func settingsOf(t backend.Target) string {
	var b strings.Builder
	for _, c := range t.Before {
		if c.Name == "gdb" {
			b.WriteString(c.Args.Text + "\n")
		}
	}
	return b.String()
}

// evenly splits targets into groups of at most per, whose sizes differ by one at most.
func evenly(targets []backend.Target, per int) [][]backend.Target {
	var all [][]backend.Target
	pieces := (len(targets) + per - 1) / per
	for i := range pieces {
		all = append(all, targets[i*len(targets)/pieces:(i+1)*len(targets)/pieces])
	}
	return all
}
