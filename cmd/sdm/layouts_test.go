// Scripts of sessions, in each layout of ranks and gdbs.

package main

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layouts are the ways in which the ranks of a script share gdbs. Each script runs in both with -all-layouts, so
// commands with a script are tested in both; else three of four run with one gdb for all only, which is cheaper.
var layouts = []struct{ name, ranksPerGDB string }{
	{"alone", "1"},
	{"shared", "4"},
}

var allLayouts = flag.Bool("all-layouts", false, "each script in both layouts; else three of four in one of them")

// once maps scripts that run in one layout only, sdm's default, to the reason.
var once = map[string]string{
	"arguments":  "what programs are started with, before gdb has a part in it",
	"asgdb":      "its lines name the layouts",
	"core":       "core files; its lines name a layout where it counts",
	"end":        "ends of sdm, and what is left behind",
	"flood":      "what ranks write",
	"folds":      "compares the layouts itself",
	"forks":      "its lines name the layouts: what is refused depends on them",
	"hosts":      "shows the gdbs",
	"output":     "what ranks write",
	"programs":   "programs that cannot be debugged",
	"raw":        "shows the numbers that each gdb gives by itself to breakpoints",
	"reallife":   "its lines name the layouts: each program in both",
	"references": "compares the layouts itself",
	"reverse":    "needs a gdb for each rank",
	"sources":    "its lines name the layouts",
	"status":     "exit statuses of sdm",
	"stdin":      "what ranks read",
}

// TestSessions runs the scripts that debug real programs. It is the end-to-end test, which -short
// skips.
func TestSessions(t *testing.T) {
	if testing.Short() {
		return
	}
	all := scriptsIn(t, "testdata/script/gdb")
	single := slices.DeleteFunc(slices.Clone(all), func(file string) bool { return once[scriptName(file)] == "" })
	if len(single) != len(once) {
		t.Errorf("%d scripts are to run once, and %d of them are there: %v", len(once), len(single), single)
	}
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		runScripts(t, "", single)
	})
	both := slices.DeleteFunc(all, func(file string) bool { return once[scriptName(file)] != "" })
	for _, l := range layouts {
		files := both
		if l.name == "alone" && !*allLayouts {
			files = nil
			for i := 0; i < len(both); i += 4 {
				files = append(files, both[i])
			}
		}
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			runScripts(t, l.ranksPerGDB, files)
		})
	}
}

// scriptName returns the name of a script in tests and in once.
func scriptName(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }
