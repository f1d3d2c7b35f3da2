package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/console/command"
)

// stackOptions are the flags of sdm stacks that attach does not have.
type stackOptions struct {
	by                string
	samples           int
	every             string
	allThreads        bool
	folded, dot, json bool
	file              string
}

// stacksFlags returns the flags of sdm stacks.
func (o *options) stacksFlags(s *stackOptions) *pflag.FlagSet {
	f := startup.NewFlags("sdm stacks")
	f.SetInterspersed(true)
	f.StringVar(&s.by, "by", "", "what makes two frames one: function, line or address (default: line)")
	f.BoolVar(&s.allThreads, "all-threads", false, "the stacks of helper threads of MPI and other runtimes, too (default: one line counts them)")
	f.IntVar(&s.samples, "samples", 0, "take so `many` samples of the running job, and tell who has not moved")
	f.StringVar(&s.every, "every", "", "the time between them, as 200ms (default: 1s)")
	f.BoolVar(&s.folded, "folded", false, "a line a stack, counting threads, for flame graphs")
	f.BoolVar(&s.dot, "dot", false, "a graph for Graphviz")
	f.BoolVar(&s.json, "json", false, "the tree as JSON")
	f.StringVarP(&s.file, "file", "o", "", "`file` for --folded, --dot or --json (default: standard output)")
	shared := o.attachFlags()
	shared.VisitAll(func(flag *pflag.Flag) {
		switch flag.Name { // about the console
		case "execute", "eval", "batch", "stop-on-error", "echo", "fold", "no-rc", "rc", "reverse":
		default:
			f.AddFlag(flag)
		}
	})
	return f
}

// stacks executes sdm stacks: it shows the stacks of a running job, which runs on.
func (a *app) stacks(args []string) console.Status {
	o, s := newOptions(a.env), &stackOptions{}
	if status, done := a.read(o, o.stacksFlags(s), args, stacksHelp); done {
		return status
	}
	lines, err := s.lines()
	if err == nil && len(o.args) == 0 {
		err = errors.New("the stacks of what? (sdm stacks PID of mpirun, slurm:JOBID[.STEP], pids:PID,PID... or hostfile:FILE)")
	}
	if err := firstOf(errors.Join(err, o.validateAttach(), o.validate())); err != nil {
		return a.fail(console.StatusUsage, err)
	}
	o.batch = true
	return a.within(o, func(l *lifetime, p *plan) console.Status {
		p.scripts, p.answersOnly = []console.Script{{Name: "sdm stacks", Lines: lines}}, true
		return a.attachTo(l, p, o.args[0])
	})
}

// lines returns the commands to execute. Attaching has stopped the ranks, but samples are taken of
// running ranks.
func (s *stackOptions) lines() ([]string, error) {
	words := []string{"stacks"}
	if s.by != "" {
		words = append(words, s.by)
	}
	if s.allThreads {
		words = append(words, "--all-threads")
	}
	if s.samples != 0 {
		words = append(words, "--samples", strconv.Itoa(s.samples))
	}
	if s.every != "" {
		words = append(words, "--every", s.every)
	}
	forms := 0
	for name, wanted := range map[string]bool{"--folded": s.folded, "--dot": s.dot, "--json": s.json} {
		if wanted {
			words = append(words, name)
			forms++
		}
	}
	switch {
	case forms > 1:
		return nil, errors.New("one of --folded, --dot and --json is enough")
	case s.file != "" && forms == 0:
		return nil, errors.New("--file: in which form? (--folded, --dot or --json)")
	case s.file != "":
		words = append(words, ">", s.file)
	}
	line := strings.Join(words, " ")
	if _, _, err := command.Parse(line); err != nil {
		return nil, err
	}
	if s.samples != 0 {
		return []string{"continue &", line}, nil
	}
	return []string{line}, nil
}
