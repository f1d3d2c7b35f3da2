// Several programs of one job, separated by colons.

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// application is one of several programs of a job:
//
//	sdm run --env A=1 -n 2 --env B=2 ./a x : -n 3 --cwd /tmp ./b
//	        └ all ┘   └──── of ./a ───┘     └──── of ./b ────┘
type application struct {
	np         int                     // number of ranks
	directives []protocol.EnvDirective // its own --env flags
	cwd        string                  // its own --cwd; "": that of the job
	args       []string                // the program and its arguments
}

// readApps splits the arguments at the colons into programs. A colon that no flag follows is an
// argument.
func (o *runOptions) readApps() error {
	parts := splitApps(o.args)
	switch {
	case len(o.args) > 0 && o.args[0] == ":":
		return errors.New("which program, before the colon? (-n N [flags] PROGRAM [ARG...] : -n N [flags] PROGRAM [ARG...])")
	case len(parts) == 1:
		return nil
	}
	first := application{np: o.np, directives: o.ranks.directives[o.jobLevel:], args: parts[0]}
	o.apps, o.args = []application{first}, parts[0]
	for _, part := range parts[1:] {
		a, err := readApp(part)
		if err != nil {
			return err
		}
		o.apps = append(o.apps, a)
	}
	o.np = 0
	for _, a := range o.apps {
		if a.np < 1 || a.np > int(rank.MaxID)-o.np {
			return fmt.Errorf("-n %d: the number of ranks is 1 to %d, in all", a.np, rank.MaxID)
		}
		o.np += a.np
	}
	return nil
}

// splitApps splits arguments at the colons between programs.
func splitApps(args []string) [][]string {
	var parts [][]string
	from := 0
	for i, arg := range args {
		if arg == ":" && i > from && i+1 < len(args) && strings.HasPrefix(args[i+1], "-") {
			parts = append(parts, args[from:i])
			from = i + 1
		}
	}
	return append(parts, args[from:])
}

// readApp reads the arguments after one colon.
func readApp(words []string) (application, error) {
	inner := &runOptions{np: 1}
	f := startup.NewFlags("sdm run")
	f.VarP(npValue{inner}, "np", "n", "")
	inner.ranks.declareEnv(f)
	f.StringVar(&inner.ranks.cwd, "cwd", "", "")
	err := f.Parse(respell(f, words))
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &value):
		return application{}, fmt.Errorf("--%s %s: %w", value.GetFlag().Name, value.GetValue(), meant(value))
	case err != nil:
		return application{}, fmt.Errorf("after the colon: %w (-n, the --env flags and --cwd are permitted there; all others come before the first program)", err)
	case f.NArg() == 0:
		return application{}, errors.New("which program, after the colon? (-n N [flags] PROGRAM [ARG...])")
	}
	if _, err := launch.Environ(nil, inner.ranks.directives); err != nil {
		return application{}, err
	}
	return application{np: inner.np, directives: inner.ranks.directives, cwd: inner.ranks.cwd, args: f.Args()}, nil
}

// applications returns the programs as the servers need them. Ranks are numbered through all
// programs in order, as starters do.
func (o *runOptions) applications() []protocol.App {
	var all []protocol.App
	next := 0
	for _, a := range o.apps {
		all = append(all, protocol.App{
			Ranks:   rank.Range(rank.ID(next), rank.ID(next+a.np-1)),
			Program: a.args[0], Args: slices.Clone(a.args[1:]), Cwd: a.cwd, Env: a.directives,
		})
		next += a.np
	}
	return all
}
