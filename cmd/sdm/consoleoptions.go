// Flags about commands and answers, and the commands that they name.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/master/frontend/console"
)

// consoleOptions are the values of the flags about commands and answers.
type consoleOptions struct {
	scripts     []scriptFlag // -x and -e, in the order given
	batch       bool
	stopOnError bool
	echo        bool
	format      string
	wholeSets   bool
	fold        time.Duration // 0: none
	wait        time.Duration // 0: no limit
	timeout     time.Duration // 0: no limit
	color       string
	noRC        bool
	rc          string
}

// declare declares the flags.
func (o *consoleOptions) declare(f *pflag.FlagSet) {
	f.VarP(scriptValue{&o.scripts, "-x"}, "execute", "x", "execute the commands of a `file`; may repeat, in the order of -x and -e")
	f.VarP(scriptValue{&o.scripts, "-e"}, "eval", "e", "execute a `command`; may repeat, in the order of -x and -e")
	f.BoolVarP(&o.batch, "batch", "b", false, "no prompt: end when the commands are done")
	f.BoolVar(&o.stopOnError, "stop-on-error", false, "end scripts and batch jobs at the first command that fails")
	f.BoolVar(&o.echo, "echo", false, "write prompt and command before the answers of scripts, as in a session that is typed")
	f.StringVar(&o.format, "format", "text", "how answers are written: text, ndjson")
	f.BoolVar(&o.wholeSets, "whole-sets", false, "ndjson: write the sets of scattered ranks in full, not cut where an event would be long")
	f.Var(newDuration(&o.fold, console.FoldWait), "fold", "how long a stop waits for equal stops of other ranks, to be shown as one line; 0 is no wait")
	f.Var(newDuration(&o.wait, 10*time.Second), "wait", "how long the answers of a command may take; 0 is no limit")
	f.Var(newDuration(&o.timeout, 0), "timeout", "how long the whole session may take; 0 is no limit")
	f.StringVar(&o.color, "color", "auto", "colors: auto, always, never")
	f.BoolVar(&o.noRC, "no-rc", false, "do not read ~/.config/sdm/sdmrc")
	f.StringVar(&o.rc, "rc", "", "read this `file` instead of ~/.config/sdm/sdmrc")
}

// ndjson reports whether answers and events are written as JSON.
func (o *consoleOptions) ndjson() bool { return o.format == string(console.NDJSON) }

// noLimit returns the form of a flag in configurations, where 0 is the default and -1 is no limit.
func noLimit(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// readScripts reads all commands that are known at the start: from the rc file, then from -x and -e. lookup
// returns environment variables.
func (o *consoleOptions) readScripts(ctx context.Context, lookup func(string) string) ([]console.Script, error) {
	all := []console.Script{}
	path, given := o.rcFile(lookup)
	if path != "" {
		s, err := console.ReadScript(ctx, path)
		switch {
		case err == nil:
			all = append(all, s)
		case given || !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	for _, f := range o.scripts {
		s, err := f.script(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// rcFile returns the file of --rc, which takes precedence over --no-rc, or the user's default file,
// which need not exist.
func (o *consoleOptions) rcFile(lookup func(string) string) (path string, given bool) {
	switch {
	case o.rc != "":
		return o.rc, true
	case o.noRC:
		return "", false
	}
	dir := lookup("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "sdm", "sdmrc"), false
}

// choice is a flag that has a fixed list of values.
type choice struct {
	flag, value string
	values      []string
}

func (c choice) check() error {
	if !slices.Contains(c.values, c.value) {
		return fmt.Errorf("%s %q: give %s", c.flag, c.value, strings.Join(c.values, ", "))
	}
	return nil
}

// choices returns the choices of all consoles.
func (o *consoleOptions) choices() []choice {
	return []choice{
		{"--format", o.format, flagValues["format"]},
		{"--color", o.color, flagValues["color"]},
	}
}

// checkBatch checks that -b has something to carry out.
func (o *consoleOptions) checkBatch() error {
	if o.batch && len(o.scripts) == 0 {
		return errors.New("-b carries out commands and ends, but there are none (give -x FILE or -e COMMAND)")
	}
	return nil
}
