// What a launch or attach asks for.

package dap

import (
	"errors"
	"fmt"
	"slices"

	"sdm/protocol/rank"
)

// Start is what a launch or attach asks for.
type Start struct {
	// Way is how ranks come to be.
	Way Way
	// Line is the program with its arguments, behind the starter if there is one; the job to attach to; the program
	// and its core files; the hang file; or the session to join, "" if there is only one.
	Line []string
	// Cwd and Env are for the ranks. A variable without a value is removed. "" is the adapter's own.
	Cwd string
	Env map[string]*string
	// NP is the number of ranks without a starter.
	NP int
	// StopAt is where ranks stop first; "" is the default of sdm run.
	StopAt string
	// Flags are further flags of the subcommand.
	Flags []string
	// StopOnEntry: ranks are not continued when the client has set its breakpoints.
	StopOnEntry bool
	// Ranks are those that the view is about, of a session that is joined; empty: all.
	Ranks rank.Set
	// Console is where a console of the session is opened, and Terminal a command in front of it.
	Console  string
	Terminal []string
	// Told is given lines that say why a start takes its time; any goroutine may call it.
	Told func(line string)
	// FetchSources: the client has not the files of the ranks, and asks for them.
	FetchSources bool
}

// Way is how ranks come to be: a subcommand of sdm.
type Way string

// The ways.
const (
	Run      Way = "run"
	Attach   Way = "attach"
	Core     Way = "core"
	HangFile Way = "open"
	Join     Way = "join"
	Simulate Way = "sim"
)

// runs reports whether ranks are continued when the client has set its breakpoints.
func (s Start) runs() bool { return (s.Way == Run || s.Way == Simulate) && !s.StopOnEntry }

// method is DAP's word for how the process was started.
func (s Start) method() string {
	if s.Way == Run || s.Way == Simulate {
		return "launch"
	}
	return "attach"
}

// ending is the command that ends debugging: ranks that were attached to run on.
func (s Start) ending() string {
	if s.Way == Attach {
		return "detach"
	}
	return ""
}

// start checks the arguments.
func (s startArguments) start(attach bool) (Start, error) {
	out := Start{Cwd: s.Cwd, Env: s.Env, NP: s.NP, StopAt: s.StopAt, Flags: s.Flags, StopOnEntry: s.StopOnEntry,
		FetchSources: s.Fetch, Ranks: s.Ranks, Console: s.Console, Terminal: s.Terminal}
	if err := checkConsole(s.Console); err != nil {
		return out, err
	}
	if s.NoDebug {
		out.StopAt, out.StopOnEntry = "none", false
	}
	var ways []Way
	for _, x := range []struct {
		way   Way
		given bool
	}{
		{Attach, len(s.Attach) > 0}, {Core, len(s.Core) > 0}, {HangFile, s.HangFile != ""}, {Join, s.Session != nil},
		{Simulate, s.Sim},
	} {
		if x.given {
			ways = append(ways, x.way)
		}
	}
	if !attach && (len(s.Starter) > 0 || s.Program != "" && len(s.Core) == 0) {
		ways = append(ways, Run)
	}
	switch {
	case len(ways) > 1:
		return out, fmt.Errorf("%v at once: one of program, starter, attach, core, hangFile and session", ways)
	case len(ways) == 0 && attach:
		return out, errors.New("attach to what? (attach is a job or a process, session a session of sdm, core and hangFile files)")
	case len(ways) == 0:
		return out, errors.New("which program? (program, starter, or both)")
	case s.NP < 0 || s.NP > int(rank.MaxID):
		return out, fmt.Errorf("np is 1 to %d", rank.MaxID)
	}
	out.Way = ways[0]
	if out.Way != Join && !s.Ranks.IsEmpty() {
		return out, errors.New("ranks are for a session that is joined; else flags has --ranks")
	}
	switch out.Way {
	case Run:
		out.Line = slices.Concat(s.Starter, s.Args)
		if s.Program != "" {
			out.Line = slices.Concat(s.Starter, []string{s.Program}, s.Args)
		}
		if len(s.Starter) > 0 && s.NP > 0 {
			return out, errors.New("np and starter: the starter's line says how many ranks there are")
		}
	case Attach:
		out.Line = s.Attach
	case Core:
		if s.Program == "" {
			return out, errors.New("core: which program has left it? (program)")
		}
		out.Line = append([]string{s.Program}, s.Core...)
	case HangFile:
		out.Line = []string{s.HangFile}
	case Join:
		out.Line = []string{*s.Session}
	}
	return out, nil
}
