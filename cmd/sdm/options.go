// Flags that the subcommands with a console share, and what is wrong with their values.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/stage"
	"sdm/master"
	"sdm/protocol"
)

// options are the values of the flags that the subcommands with a console share.
type options struct {
	console consoleOptions
	ranks   rankOptions
	job     job.Spec
	args    []string    // what follows the flags
	match   string      // --match, in place of an argument of attach
	mode    os.FileMode // --mode of the files that are written; 0: userfile.OwnMode

	processes    bool // the ranks are processes: their session can be left also without --keep
	keep         time.Duration
	keepStanding time.Duration
	keepGiven    bool
	outputLog    string
	on           string // host of the session process; "": this one
}

// newOptions returns options before the flags are read.
func newOptions(env []string) options {
	return options{job: job.Spec{Servers: servers.Spec{Env: env, StarterEnv: starterEnv(env),
		Output: servers.OutputConsole}}}
}

// env returns the environment of this process.
func (o *options) env() []string { return o.job.Servers.Env }

// declare adds the sections of flags that all subcommands with a console have.
func (o *options) declare(f *flagSet) {
	f.add("Commands and answers", o.console.declare)
	f.add("What the ranks get", o.ranks.declare)
	f.add("Servers and log", o.declareServers)
}

// declareServers adds the flags about the servers and their tree.
func (o *options) declareServers(f *pflag.FlagSet) {
	s := &o.job.Servers
	f.StringVar(&s.Tree, "tree", "", "`shape` of the tree of servers: binomial, flat or a number")
	f.Var(newDuration(&s.ConnectWait, 30*time.Second), "connect-wait", "how long the start may take after any queue: servers, gdbs and attaches together; more by itself on a busy machine; 0 is no limit")
	f.Var(newDuration(&s.Heartbeat, master.DefaultHeartbeat), "heartbeat", "interval of heartbeats to the servers; 0 is none")
	f.Var(newDuration(&s.Silence, master.DefaultSilence), "silence", "how long a server may be silent before it is lost; servers below a silent one wait ten times as long if they have no other ancestor")
	f.Var(newDuration(&s.Linger, 0), "linger", "how long servers that have lost sdm keep their ranks unchanged before they end")
	f.StringVar(&s.WhenLost, "when-lost", "kill", "what servers that have lost sdm do with the ranks that they started: kill, or detach")
	f.StringVar(&s.SecretFile, "secret-file", "", "`path` of the session's secret (default: ~/.config/sdm/secret)")
	s.LogFlags.Declare(f)
}

// perServer returns the declaration of the flag that divides ranks, in the words of the
// subcommand, among the servers of this host.
func (o *options) perServer(ranks string) func(*pflag.FlagSet) {
	return func(f *pflag.FlagSet) {
		f.IntVar(&o.job.Servers.PerServer, "ranks-per-server", 0, "`number` of "+ranks+" (default: one server has all)")
	}
}

// declareNodes adds the flags about servers on the hosts of a job that is started by a starter.
func (o *options) declareNodes(f *pflag.FlagSet) {
	s := &o.job.Servers
	f.StringVarP(&o.job.Only, "ranks", "r", "", "`set` of ranks of a starter's job to control; the others run free (default: all)")
	f.StringVar(&s.RankFrom, "rank-from", "", "`RANK[,SIZE[,LOCAL_RANK[,LOCAL_SIZE[,JOB]]]]`: the variables by which a starter that sdm does not know numbers its processes")
	f.StringVar(&s.RemoteShell, "remote-shell", "", "`command` used instead of ssh to start servers on other hosts")
	f.StringVar(&s.StartTool, "start-tool", "", "`command` that starts them all: 'CMD {jobid} {hosts} -- {daemon}'")
	f.StringVar(&s.Stage, "stage", "", "`directory` in node-local storage to which our servers are copied (once for each node, removed when they run)")
	f.BoolVar(&s.StageGDB, "stage-gdb", false, "bring this host's gdb there as well, with its libraries and its Python (removed at the end)")
	f.StringVar(&s.Listen, "listen", "", "`host` or address at which the servers of a job register (default: all of this host)")
}

// declareKeep adds --keep.
func (o *options) declareKeep(f *pflag.FlagSet) {
	f.Var(keepValue{o}, "keep", "how long a session goes on without anybody in it (default for processes, at a terminal: 30m); 0: it ends with this console")
	f.Var(newDuration(&o.keepStanding, 0), "keep-standing", "how long ranks that sdm has attached to may stand still then; 0 is a sixth of --keep")
	f.StringVar(&o.outputLog, "output-log", "", "`file` to which all that the ranks write is added while the session lasts, also while nobody is there")
}

// validate checks the options before anything is started.
func (o *options) validate() error {
	s := &o.job.Servers
	if err := o.validateChoices(); err != nil {
		return err
	}
	if _, err := launch.Environ(nil, o.ranks.directives); err != nil {
		return err
	}
	if err := validateStaging(s); err != nil {
		return err
	}
	badGDB := s.GDB.Check()
	_, badVars := launch.ParseRankFrom(s.RankFrom)
	switch {
	case badVars != nil:
		return fmt.Errorf("--rank-from: %w", badVars)
	case badGDB != nil:
		return badGDB
	case o.console.wait < 0 || o.console.timeout < 0 || s.ConnectWait < 0 || o.job.QueueWait < 0:
		return errors.New("--wait, --timeout, --connect-wait and --queue-wait cannot be negative (0 is no limit)")
	case s.PerServer < 0:
		return errors.New("--ranks-per-server cannot be negative")
	case s.Linger < 0 || s.Heartbeat < 0:
		return errors.New("--linger and --heartbeat cannot be negative (0 is not at all)")
	case s.Heartbeat > 0 && s.Silence < s.Heartbeat:
		return fmt.Errorf("--silence %v is shorter than --heartbeat %v: no server could answer in time", s.Silence, s.Heartbeat)
	case o.on != "" && protocol.CheckHost(o.on) != nil:
		return fmt.Errorf("--on: %w", protocol.CheckHost(o.on))
	case o.on != "" && o.ranks.stdinFile != "":
		return errors.New("--on and --stdin-file: the file would be read by a console that may leave")
	case o.keepStanding < 0:
		return errors.New("--keep-standing cannot be negative (0: a sixth of --keep)")
	case o.keep < 0:
		return errors.New("--keep cannot be negative (0: the session ends with its console)")
	case o.console.fold < 0:
		return errors.New("--fold cannot be negative (0 is not at all)")
	case o.ranks.stopAt == "":
		return errors.New("--stop-at: where? (main, entry, none or a location)")
	}
	return o.console.checkBatch()
}

func (o *options) logLevels() choice {
	return choice{"--log-level", o.job.Servers.LogFlags.Level, flagValues["log-level"]}
}

// validateChoices checks the flags that have a fixed list of values.
func (o *options) validateChoices() error {
	for _, c := range append(o.console.choices(),
		choice{"--output", o.job.Servers.Output, flagValues["output"]},
		choice{"--when-lost", o.job.Servers.WhenLost, flagValues["when-lost"]},
		o.logLevels(),
	) {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// validateStaging checks --stage and --stage-gdb.
func validateStaging(s *servers.Spec) error {
	switch {
	case s.Stage == "" && s.StageGDB:
		return errors.New("--stage-gdb: where to? (--stage DIR names a directory on each node)")
	case s.Stage != "" && !filepath.IsAbs(s.Stage):
		return fmt.Errorf("--stage %s: give an absolute path, of a directory on each node", s.Stage)
	case s.StageGDB:
		if _, err := stage.FindGDB(s.GDB.Path); err != nil {
			return fmt.Errorf("--stage-gdb: %w", err)
		}
	}
	return nil
}

// starterEnv returns the environment of commands that start servers: ours, changed by directives,
// but without the variables of our flags (SDM_*), because the servers get these as arguments. The
// --env flags are for the ranks only.
func starterEnv(env []string, directives ...protocol.EnvDirective) []string {
	var kept []string
	for _, e := range env {
		if !strings.HasPrefix(e, "SDM_") {
			kept = append(kept, e)
		}
	}
	kept, _ = launch.Environ(kept, directives) // checked by validate
	return kept
}

// lookup returns the value of an environment variable; "": it is not set.
func (o *options) lookup(name string) string { return o.job.Servers.Lookup(name) }

// spec returns what the flags say about the job.
func (o *options) spec() job.Spec {
	s := o.job
	s.Servers.Wait, s.StopAt = o.console.wait, o.ranks.stopAt
	return s
}

// andOptional adds to ways those that are up to a flag.
func (o *options) andOptional(some ...way) []way {
	if o.job.Servers.GDB.Reverse {
		some = append(some, wayReverse)
	}
	switch {
	case o.keep > 0:
		some = append(some, wayKeep)
	case o.keepGiven:
		some = append(some, wayNoKeep)
	}
	return some
}

// refusal returns why a flag has no place in some ways; nil: all have one.
func (o *options) refusal(f *flagSet, some ...way) error {
	return asked{flags: f, ways: o.andOptional(some...)}.refusal()
}
