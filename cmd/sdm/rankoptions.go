// Flags about what the ranks get.

package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// rankOptions are the values of the flags about what the ranks get.
type rankOptions struct {
	stopAt     string
	directives []protocol.EnvDirective // the --env flags, in the order given
	stdin      string
	stdinFile  string // "": our standard input
	tty        bool
	cwd        string // "": ours
}

// declare declares the flags.
func (o *rankOptions) declare(f *pflag.FlagSet) {
	f.StringVar(&o.stopAt, "stop-at", "main", "where ranks stop first: main, entry, none or a `location`")
	o.declareEnv(f)
	f.StringVar(&o.stdin, "stdin", stdinReader, "`set` of ranks that read standard input, or none; the others find its end")
	f.StringVar(&o.stdinFile, "stdin-file", "", "`file` that these ranks read instead of sdm's standard input")
	f.BoolVar(&o.tty, "tty", false, "give each rank a terminal of its own instead of pipes; its two outputs are one then")
	f.StringVar(&o.cwd, "cwd", "", "working `directory` of the ranks (default: this one)")
}

// declareEnv adds the flags that change the environment of the ranks.
func (o *rankOptions) declareEnv(f *pflag.FlagSet) {
	f.Var(envValue{&o.directives, "set"}, "env", "set `NAME=VALUE` for the ranks; the --env flags apply in order")
	f.Var(envValue{&o.directives, "add"}, "env-add", "set `NAME=VALUE` unless NAME is set")
	f.Var(envValue{&o.directives, "unset"}, "env-unset", "remove `NAME`")
	f.Var(envValue{&o.directives, "prepend"}, "env-prepend", "prepend VALUE and a separator: `NAME[;]=VALUE`; without [;] it is a colon")
	f.Var(envValue{&o.directives, "append"}, "env-append", "append a separator and VALUE: `NAME[;]=VALUE`")
}

// stdinReader is the rank that reads standard input by default.
const stdinReader = "0"

// inputOf returns the ranks of a job that --stdin selects. some says that all contains only the
// controlled ranks of the job. If rank 0 is not one of these, it reads the starter's input, and by
// default no other rank reads.
func (o *rankOptions) inputOf(all rank.Set, some bool) (rank.Set, error) {
	if o.stdin == "none" || o.stdin == stdinReader && some && !all.Contains(0) {
		return rank.Set{}, nil
	}
	set, err := rank.Parse(o.stdin, rank.Env{All: all})
	if err != nil {
		return set, fmt.Errorf("--stdin: %w", err)
	}
	return set, nil
}

// program returns the job of a program on all ranks. The session adds the ranks that read standard
// input, and their number.
func (o *rankOptions) program(line []string) *protocol.Job {
	return &protocol.Job{Program: line[0], Args: line[1:], Cwd: o.cwd, Env: o.directives, StopAt: o.stopAt, TTY: o.tty}
}
