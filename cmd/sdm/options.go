package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/gdbflags"
	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/master"
	"sdm/master/frontend/console"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/tree/topology"
)

// options are the flags of all subcommands; see declare for their meaning.
type options struct {
	env []string // for the variables of flags

	scripts     []scriptFlag // -x and -e, in the order given
	batch       bool
	stopOnError bool
	echo        bool
	fold        time.Duration
	format      string
	partial     bool
	wholeSets   bool
	wait        time.Duration
	timeout     time.Duration
	stopAt      string
	stopAtGiven bool
	directives  []protocol.EnvDirective // --env…, in the order given
	stdin       string
	stdinFile   string
	cwd         string
	tty         bool
	secretFile  string
	color       string
	noRC        bool
	rc          string
	log         startup.Log
	connectWait time.Duration
	clock       *startClock // of connectWait
	tree        string
	heartbeat   time.Duration
	silence     time.Duration
	linger      time.Duration
	whenLost    string

	// Of subcommands that start processes, attach to them or open core files:
	np             int
	force          bool
	gdb            gdbflags.Values
	ranksPerServer int
	npGiven        bool // in the environment, too
	npTyped        bool
	jobLevel       int           // number of directives before -n, which hold for all programs
	apps           []application // programs of the job; nil: a single one
	starter        string
	starterDirs    []protocol.EnvDirective // --starter-env…
	launcher       string
	launcherArgs   []string
	composed       bool // the starter was put before the program by sdm
	queueWait      time.Duration
	stage          string
	stageGDB       bool
	listenHost     string
	startTool      string
	starterArgs    string // "": nothing is inserted into the starter's line
	remoteShell    string
	only           string // ranks to control; "": all
	output         string

	// Of listen only.
	plaintext bool

	// Of sim only.
	simServers int
	script     string
	connect    string // address of the front end; "": the console

	args   []string // what follows the flags
	dashed int      // how many of them precede "--"; -1: there is none
}

// Values of --output: where the output of the ranks goes.
const (
	outputConsole = "console"
	outputStarter = "starter"
)

func newOptions(env []string) *options { return &options{env: env, output: outputConsole} }

// runFlags returns the flags of sdm run.
func (o *options) runFlags() *pflag.FlagSet {
	f := startup.NewFlags("sdm run")
	o.np = 1
	f.VarP(npValue{o}, "np", "n", "`number` of ranks")
	f.BoolVar(&o.force, "force", false, "do what looks like a slip: more than 1000 ranks on this machine")
	o.declare(f)
	f.StringVar(&o.starter, "starter", "", "`name` of a further starter (besides mpirun, mpiexec, srun and the like)")
	f.StringVar(&o.starterArgs, "starter-args", "", "`template` of arguments put behind the starter's name, by which it starts our servers, one a node: '--tool {daemon} --tool-arguments \"{args}\"', or openmpi")
	f.StringVar(&o.launcher, "launcher", launcherAuto, "who starts PROGRAM: local, slurm, or a starter (mpirun); for a starter's line: mpir (it runs under control until its ranks are held) or slot (our servers in the places of its ranks; default: mpir where it offers that)")
	f.StringArrayVar(&o.launcherArgs, "launcher-arg", nil, "further `argument` for the starter of --launcher, handed on unchanged; may repeat")
	f.Var(newDuration(&o.queueWait, 0), "queue-wait", "how long a starter may take to start the job, in a queue or before MPI_Init; 0 is no limit")
	f.Var(envValue{o, "set", starterTarget}, "starter-env", "`NAME=VALUE` for the starter and nobody else; in order with its kin:")
	f.Var(envValue{o, "add", starterTarget}, "starter-env-add", "`NAME=VALUE` unless NAME is there")
	f.Var(envValue{o, "unset", starterTarget}, "starter-env-unset", "take `NAME` out")
	f.Var(envValue{o, "prepend", starterTarget}, "starter-env-prepend", "`NAME[;]=VALUE` in front")
	f.Var(envValue{o, "append", starterTarget}, "starter-env-append", "`NAME[;]=VALUE` behind")
	o.declareNodes(f)
	f.StringVar(&o.listenHost, "listen", "", "`host` or address at which the servers of a starter's job register (default: all of this host)")
	f.StringVar(&o.output, "output", outputConsole, "who gets what the ranks of a starter's job write: console, or starter")
	o.gdb.Declare(f)
	f.IntVar(&o.ranksPerServer, "ranks-per-server", 0, "`number` of ranks of one server (default: one server has all)")
	return f
}

// listenFlags returns the flags of sdm listen.
func (o *options) listenFlags() *pflag.FlagSet {
	f := startup.NewFlags("sdm listen")
	f.SetInterspersed(true) // PROGRAM follows --
	o.declare(f)
	f.BoolVar(&o.plaintext, "plaintext", false, "permit a master without TLS")
	f.BoolVar(&o.partial, "partial", false, "when --connect-wait is over, go on with the servers that have come; the ranks of the others are lost")
	return f
}

// declare adds the flags that the subcommands with a console share.
func (o *options) declare(f *pflag.FlagSet) {
	f.VarP(scriptValue{o, "-x"}, "execute", "x", "carry out the commands of a `file`; may repeat, in order with -e")
	f.VarP(scriptValue{o, "-e"}, "eval", "e", "carry out a `command`; may repeat, in order with -x")
	f.BoolVarP(&o.batch, "batch", "b", false, "no prompt: end when the commands are done")
	f.BoolVar(&o.stopOnError, "stop-on-error", false, "end scripts, and a batch, at the first command that fails")
	f.BoolVar(&o.echo, "echo", false, "write prompt and command in front of the answers of scripts, as in a session that is typed")
	f.StringVar(&o.format, "format", "text", "how answers are written: text, ndjson")
	f.BoolVar(&o.wholeSets, "whole-sets", false, "ndjson: write the sets of scattered ranks in full, not cut where an event would be long")
	f.Var(newDuration(&o.fold, console.FoldWait), "fold", "how long a stop waits for equal ones of other ranks, to be one line; 0 is not at all")
	f.Var(newDuration(&o.wait, 10*time.Second), "wait", "how long the answers of a command may take; 0 is no limit")
	f.Var(newDuration(&o.timeout, 0), "timeout", "how long all may take; 0 is no limit")
	f.StringVar(&o.stopAt, "stop-at", "main", "where ranks stop first: main, entry, none or a `location`")
	o.declareEnv(f)
	f.StringVar(&o.stdin, "stdin", stdinReader, "`set` of ranks that read standard input, or none; the others find its end")
	f.StringVar(&o.stdinFile, "stdin-file", "", "what they read, in place of our standard input")
	f.BoolVar(&o.tty, "tty", false, "give each rank a terminal of its own instead of pipes; its two outputs are one then")
	f.StringVar(&o.cwd, "cwd", "", "working `directory` of the ranks (default: this one)")
	f.StringVar(&o.tree, "tree", "", "`shape` of the tree of servers: binomial, flat or a number")
	f.Var(newDuration(&o.connectWait, 30*time.Second), "connect-wait", "how long the start may take: servers, gdbs and attaches together, behind any queue; 0 is no limit")
	f.Var(newDuration(&o.heartbeat, master.DefaultHeartbeat), "heartbeat", "how often servers are asked for a sign of life; 0 is never")
	f.Var(newDuration(&o.silence, master.DefaultSilence), "silence", "how long a server may give none before it is given up; servers below one that stands still bear it ten times as long when nobody is left above")
	f.Var(newDuration(&o.linger, 0), "linger", "how long servers that have lost sdm keep their ranks as they are before they end")
	f.StringVar(&o.whenLost, "when-lost", "kill", "what servers that have lost sdm do with the ranks that they started: kill, or detach")
	f.StringVar(&o.secretFile, "secret-file", "", "`path` of the secret that others prove to know (default: ~/.config/sdm/secret)")
	f.StringVar(&o.color, "color", "auto", "colors: auto, always, never")
	f.BoolVar(&o.noRC, "no-rc", false, "do not read ~/.config/sdm/sdmrc")
	f.StringVar(&o.rc, "rc", "", "read this `file` in its place")
	o.log.Declare(f)
}

// declareEnv adds the flags that change the environment of the ranks.
func (o *options) declareEnv(f *pflag.FlagSet) {
	f.Var(envValue{o, "set", rankTarget}, "env", "`NAME=VALUE` for the ranks; the --env flags apply in order")
	f.Var(envValue{o, "add", rankTarget}, "env-add", "`NAME=VALUE` unless NAME is there")
	f.Var(envValue{o, "unset", rankTarget}, "env-unset", "take `NAME` out")
	f.Var(envValue{o, "prepend", rankTarget}, "env-prepend", "put VALUE and a separator in front: `NAME[;]=VALUE`; without [;] it is a colon")
	f.Var(envValue{o, "append", rankTarget}, "env-append", "the same behind: `NAME[;]=VALUE`")
}

// parse reads the command line, and then the environment for flags that were not given.
func (o *options) parse(f *pflag.FlagSet, args []string) error {
	err := f.Parse(respell(f, args))
	o.npTyped = f.Changed("np")
	if err == nil {
		err = o.fromEnvironment(f)
	}
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &value):
		return fmt.Errorf("--%s %s: %w", value.GetFlag().Name, value.GetValue(), meant(value))
	case err != nil:
		return fmt.Errorf("%w (sdm help %s lists the flags)", err, strings.TrimPrefix(f.Name(), "sdm "))
	}
	o.args, o.dashed, o.npGiven, o.stopAtGiven = f.Args(), f.ArgsLenAtDash(), f.Changed("np"), f.Changed("stop-at")
	return nil
}

// fromEnvironment sets the flags that were not given from their environment variables.
func (o *options) fromEnvironment(f *pflag.FlagSet) error {
	err := startup.FromEnvironment(f, o.env, []string{"connect", "batch"}, []string{"connect", "execute"}, []string{"connect", "eval"})
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s=%s: %w", startup.Twin(bad.GetFlag()), bad.GetValue(), meant(bad))
	}
	return err
}

// validate checks the shared options before anything is started.
func (o *options) validate() error {
	if err := errors.Join(o.validateChoices(), o.validateReverse()); err != nil {
		return firstOf(err)
	}
	if _, err := launch.Environ(nil, slices.Concat(o.directives, o.starterDirs)); err != nil {
		return err
	}
	if err := o.validateStaging(); err != nil {
		return err
	}
	badGDB := o.gdb.Check()
	switch {
	case badGDB != nil:
		return badGDB
	case o.wait < 0 || o.timeout < 0 || o.connectWait < 0 || o.queueWait < 0:
		return errors.New("--wait, --timeout, --connect-wait and --queue-wait cannot be negative (0 is no limit)")
	case o.linger < 0 || o.heartbeat < 0:
		return errors.New("--linger and --heartbeat cannot be negative (0 is not at all)")
	case o.heartbeat > 0 && o.silence < o.heartbeat:
		return fmt.Errorf("--silence %v is shorter than --heartbeat %v: nobody could answer in time", o.silence, o.heartbeat)
	case o.fold < 0:
		return errors.New("--fold cannot be negative (0 is not at all)")
	case o.stopAt == "":
		return errors.New("--stop-at: where? (main, entry, none or a location)")
	case o.batch && len(o.scripts) == 0:
		return errors.New("-b carries out commands and ends, but there are none (give -x FILE or -e COMMAND)")
	}
	return nil
}

func (o *options) validateChoices() error {
	for _, c := range []struct {
		flag, value string
		choices     []string
	}{
		{"--format", o.format, []string{string(console.Text), string(console.NDJSON)}},
		{"--color", o.color, []string{"auto", "always", "never"}},
		{"--output", o.output, []string{outputConsole, outputStarter}},
		{"--when-lost", o.whenLost, []string{"kill", "detach"}},
		{"--log-level", o.log.Level, []string{"debug", "info", "warn", "error"}},
	} {
		found := false
		for _, choice := range c.choices {
			found = found || choice == c.value
		}
		if !found {
			return fmt.Errorf("%s %q: give %s", c.flag, c.value, strings.Join(c.choices, ", "))
		}
	}
	return nil
}

// manyRanks is the number of ranks on one machine above which --force is required, because the
// number is probably a typing error. Their gdbs would need 20 GB.
const manyRanks = 1000

// validateRun checks the options of sdm run.
func (o *options) validateRun() error {
	switch {
	case len(o.args) == 0:
		return errors.New("which program? (sdm run [flags] PROGRAM [ARG...])")
	case o.np < 1 || o.np > int(rank.MaxID):
		return fmt.Errorf("-n %d: the number of ranks is 1 to %d", o.np, rank.MaxID)
	case o.np > manyRanks && !o.force && o.lookup("SDM_BACKEND") == "":
		return fmt.Errorf("-n %d: on one machine? each rank has a gdb of some 20 MB (--force if you mean it; sdm sim -n %d tries it without processes)", o.np, o.np)
	case o.ranksPerServer < 0:
		return errors.New("--ranks-per-server cannot be negative")
	}
	if _, err := o.inputRanks(); err != nil {
		return err
	}
	if _, err := topology.ParseShape(o.shape(), o.servers()); err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	return o.validate()
}

func (o *options) shape() string {
	if o.tree == "" {
		return "binomial"
	}
	return o.tree
}

// servers returns the number of servers for the ranks of run.
func (o *options) servers() int {
	if o.ranksPerServer == 0 {
		return 1
	}
	return (o.np + o.ranksPerServer - 1) / o.ranksPerServer
}

// inputRanks returns the ranks that --stdin selects for run.
func (o *options) inputRanks() (rank.Set, error) { return o.inputOf(rank.Range(0, rank.ID(o.np-1))) }

// stdinReader is the rank that reads standard input by default.
const stdinReader = "0"

// inputOf returns the ranks of a job that --stdin selects.
func (o *options) inputOf(all rank.Set) (rank.Set, error) {
	if o.stdin == "none" {
		return rank.Set{}, nil
	}
	if o.stdin == stdinReader && o.only != "" && !all.Contains(0) {
		return rank.Set{}, nil // rank 0 is not controlled, and reads by itself
	}
	set, err := rank.Parse(o.stdin, rank.Env{All: all})
	if err != nil {
		return set, fmt.Errorf("--stdin: %w", err)
	}
	return set, nil
}

// ndjson reports whether answers and events are written as JSON.
func (o *options) ndjson() bool { return o.format == string(console.NDJSON) }

// foldWait returns --fold in the form of the console's configuration.
func (o *options) foldWait() time.Duration {
	if o.fold == 0 {
		return -1
	}
	return o.fold
}

// answerWait returns --wait in the form of a session's call.
func (o *options) answerWait() time.Duration {
	if o.wait == 0 {
		return -1
	}
	return o.wait
}
