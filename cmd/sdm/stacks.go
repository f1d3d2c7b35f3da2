// sdm stacks and sdm waits: one look at a running job.

package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sdm/master/frontend/console"
	"sdm/master/language"
)

// Engines of servers; the first two are values of --engine.
const (
	engineGDB   = "gdb"
	engineProbe = "probe"
	engineLazy  = "lazy" // the probe, until a command needs gdb
)

// stackOptions are the values of the flags of sdm stacks.
type stackOptions struct {
	options
	word              string // command of the prompt: stacks or waits
	by, engine        string
	samples           int
	every             string
	allThreads        bool
	children          bool
	explain           bool
	folded, dot, json bool
	hang              bool   // --hang-file
	file              string // --file; "": standard output
}

func newStacks(env []string) command {
	return &stackOptions{options: newOptions(env), word: "stacks"}
}

func newWaits(env []string) command {
	return &stackOptions{options: newOptions(env), word: language.Waits, engine: engineProbe}
}

// flags returns the flags of the command: its own, and the flags of sdm attach that are not about the
// console.
func (s *stackOptions) flags() *flagSet {
	title, declare, head := "Stacks", s.declareStacks, usageStacks
	if s.word == language.Waits {
		title, declare, head = "Waits", s.declareWaits, usageWaits
	}
	f := newFlags(s.word, head, flagsOf(wayLook, missing)...)
	f.add(title, declare)
	s.declareAttach(f)
	return f
}

// declareStacks adds the flags that only sdm stacks has.
func (s *stackOptions) declareStacks(f *pflag.FlagSet) {
	f.StringVar(&s.by, "by", "", "merge frames by function, line or address (default: line)")
	f.StringVar(&s.engine, "engine", engineProbe, "what reads the stacks: probe, which stops the ranks for about a millisecond and needs no gdb on their hosts, or gdb")
	f.BoolVar(&s.allThreads, "all-threads", false, "the stacks of helper threads of MPI and other runtimes, too (default: one line counts them)")
	f.BoolVar(&s.children, "children", false, "the stacks of the processes that the ranks have started, too, each below a line that names it")
	f.BoolVar(&s.explain, "explain", false, "what the verdict is based on; and where each argument of a call of MPI was found, or why it is not known, with the probe only")
	f.IntVar(&s.samples, "samples", 0, "take this `many` samples of the running job, and show who has not moved and how often the others were where")
	f.StringVar(&s.every, "every", "", "time between samples, such as 200ms (default: 1s)")
	f.BoolVar(&s.folded, "folded", false, "one line for each stack with its number of threads, or of hits in samples, for flame graphs and speedscope")
	f.BoolVar(&s.dot, "dot", false, "a graph for Graphviz")
	f.BoolVar(&s.json, "json", false, "the tree as JSON")
	f.BoolVar(&s.hang, "hang-file", false, "a file for sdm open; an existing one is not replaced")
	f.StringVarP(&s.file, "file", "o", "", "`file` for --folded, --dot, --json (default: standard output) or --hang-file")
	s.declareMode(f)
}

// declareWaits adds the flags that only sdm waits has.
func (s *stackOptions) declareWaits(f *pflag.FlagSet) {
	f.BoolVar(&s.explain, "explain", false, "what the verdict is based on: the rule, the samples and what its ranks do")
	f.IntVar(&s.samples, "samples", 0, "compare this `many` samples (default: 4)")
	f.StringVar(&s.every, "every", "", "time between samples (default: 150ms)")
	f.BoolVar(&s.dot, "dot", false, "a graph for Graphviz")
	f.BoolVar(&s.json, "json", false, "what was found and the graph as JSON")
	f.BoolVar(&s.hang, "hang-file", false, "a file for sdm open; an existing one is not replaced")
	f.StringVarP(&s.file, "file", "o", "", "`file` for --dot, --json (default: standard output) or --hang-file")
	s.declareMode(f)
}

// plan checks the options: the command looks at the ranks of a running job, which runs on.
func (s *stackOptions) plan(a *app, f *flagSet) (*plan, error) {
	s.args = f.Args()
	lines, err := s.lines()
	switch {
	case err != nil:
		return nil, err
	case len(s.args) == 0 && s.match == "":
		return nil, errors.New("the " + s.word + " of what? (sdm " + s.word + " PID of mpirun, slurm:JOBID[.STEP], flux:JOBID, pbs:JOBID, nccl:HOST, pids:PID,PID..., hostfile:FILE or --match 'PROGRAM ARG...')")
	}
	p, err := a.attaching(&s.options, f, wayLook)
	if err != nil {
		return nil, err
	}
	if s.engine == engineProbe {
		s.job.Servers.Backend, s.job.Servers.StageGDB = engineProbe, false
	}
	s.console.batch = true
	p.scripts, p.answersOnly = []console.Script{{Name: "sdm " + s.word, Lines: lines}}, true
	return p, nil
}

// lines returns the commands to execute. Samples are taken of running ranks, so "continue &" comes
// first if the attach of gdb has stopped the ranks.
func (s *stackOptions) lines() ([]string, error) {
	words := []string{s.word}
	if s.by != "" {
		words = append(words, s.by)
	}
	if s.allThreads {
		words = append(words, "--all-threads")
	}
	if s.children {
		words = append(words, "--children")
	}
	if s.explain {
		words = append(words, "--explain")
	}
	if s.samples != 0 {
		words = append(words, "--samples", strconv.Itoa(s.samples))
	}
	if s.every != "" {
		words = append(words, "--every", s.every)
	}
	if s.engine != engineGDB && s.engine != engineProbe {
		return nil, fmt.Errorf("--engine %q: give gdb or probe", s.engine)
	}
	forms := 0
	for name, wanted := range map[string]bool{"--folded": s.folded, "--dot": s.dot, "--json": s.json, "--hang-file": s.hang} {
		if wanted {
			words = append(words, name)
			forms++
		}
	}
	switch {
	case forms > 1:
		return nil, errors.New("one of --folded, --dot, --json and --hang-file is enough")
	case s.file != "" && forms == 0:
		return nil, errors.New("--file: in which form? (--folded, --dot, --json or --hang-file)")
	case s.file == "" && s.hang:
		return nil, errors.New("--hang-file: into which file? (-o FILE)")
	case s.file != "":
		words = append(words, ">", s.file)
	}
	line := strings.Join(words, " ")
	if _, _, err := language.Parse(line); err != nil {
		return nil, err
	}
	if s.samples != 0 && s.engine == engineGDB {
		return []string{"continue &", line}, nil
	}
	return []string{line}, nil
}
