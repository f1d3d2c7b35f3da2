// Which flags have a place in which way to get at ranks: a table, from which refusals, help and a page of docs come.

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// way is a way to get at ranks, or one side of it. An invocation goes one or more of them; of these, a later constant
// takes precedence.
type way int

const (
	wayLocal    way = iota // servers on this host start the ranks
	wayLine                // a starter's line is given
	wayComposed            // sdm puts a starter before the program
	wayQueue               // ... which is srun, since we are in an allocation of Slurm
	waySlot                // servers take the places of the ranks, and nothing else is tried
	wayMPIR                // the starter holds its ranks by MPIR, and nothing else is tried
	wayTemplate            // the starter starts our servers, too
	wayHeld                // the starter's PMIx server holds the ranks
	waySpawn               // ... and libpmix starts the starter
	wayFlux                // flux run holds its ranks
	wayServer              // a PMIx server that runs already starts the ranks
	wayAttach
	wayLook // sdm stacks and sdm waits
	wayWatch
	wayListen
	wayJoin
	wayCore
	waySim
	wayOpen
	wayFrontEnd // sdm sim and sdm open for a front end
	wayReport   // sdm open writes a report
	wayReverse
	wayKeep
	wayNoKeep
)

// ways tells of each way how it is named in tables, what is typed for it, and which other way it is a form of (-1: it
// is one by itself). It is read only.
var ways = [...]struct {
	name, typed string
	of          way
}{
	wayLocal:    {"local", "sdm run -n N PROGRAM", -1},
	wayLine:     {"starter", "sdm run -- mpirun ... (or mpiexec, srun, torchrun)", -1},
	wayComposed: {"--launcher", "sdm run --launcher STARTER -n N PROGRAM", -1},
	wayQueue:    {"Slurm", "sdm run -n N PROGRAM in an allocation of Slurm", wayComposed},
	waySlot:     {"slot", "sdm run --launcher slot -- mpirun ...", wayLine},
	wayMPIR:     {"MPIR", "sdm run --launcher mpir -- mpirun ...", wayLine},
	wayTemplate: {"template", "sdm run --starter-args TEMPLATE -- mpirun ...", wayLine},
	wayHeld:     {"PMIx holds", "sdm run --launcher pmix -- mpirun ...", wayLine},
	waySpawn:    {"spawn", "sdm run --launcher pmix --pmix-indirect spawn -- mpirun ...", wayHeld},
	wayFlux:     {"Flux", "sdm run -- flux run ...", wayLine},
	wayServer:   {"PMIx", "sdm run --launcher pmix -n N PROGRAM", -1},
	wayAttach:   {"attach", "sdm attach PID (or slurm:, flux:, pbs:, pmix:, torchrun:, --match ...)", -1},
	wayLook:     {"stacks", "sdm stacks PID, sdm waits PID", -1},
	wayWatch:    {"watch", "sdm watch PID, sdm watch -- mpirun ...", -1},
	wayListen:   {"listen", "sdm listen PORT", -1},
	wayJoin:     {"join", "sdm join ID", -1},
	wayCore:     {"core", "sdm core PROGRAM CORE...", -1},
	waySim:      {"sim", "sdm sim -n N", -1},
	wayOpen:     {"open", "sdm open FILE", -1},
	wayFrontEnd: {"front end", "sdm sim --connect HOST:PORT, sdm open --connect HOST:PORT", -1},
	wayReport:   {"report", "sdm open --html REPORT", wayOpen},
	wayReverse:  {"--reverse", "sdm run --reverse, with any of these", -1},
	wayKeep:     {"--keep", "sdm run --keep TIME, with any of these", -1},
	wayNoKeep:   {"--keep 0", "sdm run --keep 0, with any of these", -1},
}

// place tells what a flag is in a way.
type place struct {
	kind placeKind
	why  string // of a refusal; {value}, {starter} and {launcher} stand for what the command line has
}

type placeKind int

const (
	fits    placeKind = iota // it does what its help says
	ignored                  // it is accepted and does nothing, since it may be in the environment
	missing                  // the subcommand does not have it
	refused
)

var (
	fine = place{kind: fits}
	idle = place{kind: ignored}
	none = place{kind: missing}
)

func no(why string) place { return place{refused, why} }

// severalPrograms stands among the flags for a job of several programs.
const severalPrograms = ":"

// row is what flags are in each way; in those that it does not name, they fit.
type row struct {
	flags  []string
	values []string // what is said of the flags holds for these values; nil: for all but the default
	but    []string // with values nil: it does not hold for these
	any    bool     // it holds for the default, too, if that is given
	typed  bool     // it holds on the command line only: in the environment they are for other invocations
	in     map[way]place
}

// Groups of flags.
var (
	envFlags  = []string{"env", "env-add", "env-unset", "env-prepend", "env-append"}
	pmixFlags = []string{"pmix-server", "pmix-stop", "map-by", "rank-by", "bind-to", "pmix-hosts", "alloc-nodes", "alloc-time"}
)

// Reasons that several rows have.
const (
	whyFrontEnd  = "with --connect the front end gives the commands, -b, -x and -e have no place"
	whyReport    = "--html writes the report and ends, so --connect, -b, -x and -e have no place"
	whyStreams   = "--tty, --stdin and --stdin-file: the PMIx server has the streams of the ranks"
	whyFluxGives = "--env and --cwd: Flux decides what its ranks get (flux run --env=NAME=VALUE, --cwd=DIR)"
	whyStarters  = "--starter-args, --start-tool and --remote-shell all start the servers: give only one"
	whyNoStage   = "--stage: the PMIx server starts our servers where they are"
	whyInInit    = "--stop-at {value}: with --launcher {launcher} ranks are held in MPI_Init, past their first line (leave --launcher out)"
	whyNoEnv     = "--env: with --launcher {launcher} the starter alone decides what its ranks get (mpirun -x NAME=VALUE; or leave --launcher out)"
	whySpawn     = "--pmix-indirect spawn: it goes with --launcher pmix and a starter (sdm run --launcher pmix -- mpirun ...)"
	whyNoStarter = "--launcher-arg {value}: no starter is used (give --launcher slurm or --launcher mpirun)"
	whyTemplate  = "--starter-args: no starter is used (sdm run --starter-args TEMPLATE -- mpirun -n 4 PROGRAM)"
	whyPMIx      = "{flag} goes with --launcher pmix"
)

// rows is the table. The first refusal in it is that which the user reads. It is read only.
var rows = []row{
	{flags: []string{"pmix-indirect"}, values: []string{"spawn"}, in: map[way]place{
		wayHeld: fine, wayLocal: no(whySpawn), wayLine: no(whySpawn), wayComposed: no(whySpawn), wayServer: no(whySpawn)}},
	{flags: []string{"pmix-log"}, in: map[way]place{
		waySpawn: no("--pmix-log and --pmix-indirect spawn: a starter that libpmix starts has no log of the system (--pmix-indirect fork has)")}},
	{flags: []string{"stdin-file"}, in: map[way]place{
		wayKeep:   no("--keep and --stdin-file: the file would be read by a console that may leave"),
		waySpawn:  no("--stdin-file and --pmix-indirect spawn: a starter that libpmix starts has no standard input (--pmix-indirect fork has)"),
		wayServer: no(whyStreams), wayAttach: idle, wayLook: idle, wayWatch: idle, wayCore: none, waySim: none}},
	{flags: []string{"output-log"}, in: map[way]place{
		wayNoKeep: no("--output-log is written by a session that can be left, which --keep 0 excludes")}},
	{flags: []string{"keep", "output-log"}, typed: true, in: map[way]place{
		wayFrontEnd: no("{flag} and --connect: that front end has the session, which ends with it")}},
	{flags: []string{"on"}, in: map[way]place{
		wayNoKeep: no("--on begins a session that can be left, which --keep 0 excludes")}},
	{flags: pmixFlags, typed: true, in: map[way]place{
		wayHeld: no("{flag}: {starter} starts the ranks (write it into its line)"), wayLine: no(whyPMIx), wayLocal: no(whyPMIx), wayComposed: no(whyPMIx)}},

	{flags: []string{severalPrograms}, in: map[way]place{wayFlux: no("flux run starts one program: several with colons are not possible")}},
	{flags: []string{"launcher"}, values: []string{"slot", "mpir"}, in: map[way]place{
		wayFlux: no("--launcher {value}: flux run holds its ranks itself (leave it out)")}},
	{flags: []string{"starter-args"}, in: map[way]place{
		wayFlux: no("--starter-args: flux exec starts our servers (leave it out)"), waySlot: no("--starter-args goes with MPIR, not with --launcher slot"),
		wayLocal: no(whyTemplate), wayQueue: no(whyTemplate)}},
	{flags: []string{"start-tool", "remote-shell"}, in: map[way]place{wayTemplate: no(whyStarters), wayLocal: idle}},
	{flags: []string{"np"}, typed: true, in: map[way]place{
		wayLine: no("-n {value}: the number of ranks belongs to the line of {starter}")}},
	{flags: []string{"launcher-arg"}, in: map[way]place{
		wayLine: no("--launcher-arg {value}: write it into the line of {starter}"), wayLocal: no(whyNoStarter),
		wayServer: no("--launcher-arg {value}: a PMIx server takes no arguments (there are --map-by, --bind-to and others)")}},
	{flags: []string{"ranks-per-server"}, in: map[way]place{
		wayLine:     no("--ranks-per-server: under a starter there is one server for each node (leave it out)"),
		wayComposed: no("--ranks-per-server: under a starter there is one server for each node (leave it out)")}},

	{flags: []string{"stop-at"}, values: []string{"none", "entry"}, in: map[way]place{
		wayReverse: no("--reverse records from the first stop on, after the loader (--stop-at main or a location)")}},
	{flags: []string{"stop-at"}, any: true, in: map[way]place{
		wayMPIR: no(whyInInit), wayHeld: no(whyInInit),
		wayServer: no("--stop-at {value}: a PMIx server holds ranks in MPI_Init, past their first line (--pmix-stop exec holds them before it, where the server can)"),
		wayAttach: idle, wayLook: idle, wayWatch: idle, wayCore: none}},
	{flags: []string{"ranks-per-gdb"}, but: []string{"auto", "", "1"}, in: map[way]place{
		wayReverse: no("--reverse needs a gdb for each rank, not --ranks-per-gdb {value}")}},
	{flags: []string{"reverse"}, in: map[way]place{wayLook: none, wayWatch: none, wayCore: none}},

	{flags: envFlags, any: true, in: map[way]place{
		wayFlux: no(whyFluxGives), wayMPIR: no(whyNoEnv), wayHeld: no(whyNoEnv),
		wayTemplate: no("--env: with --starter-args the starter alone decides what its ranks get (mpirun -x NAME=VALUE)"),
		wayAttach:   idle, wayLook: idle, wayWatch: idle, wayCore: none, waySim: none}},
	{flags: []string{"cwd"}, in: map[way]place{
		wayFlux: no(whyFluxGives), wayAttach: idle, wayLook: idle, wayWatch: idle, wayCore: none, waySim: none}},
	{flags: []string{"stdin"}, in: map[way]place{
		wayServer: no(whyStreams), wayAttach: idle, wayLook: idle, wayWatch: idle, wayCore: none, waySim: none}},
	{flags: []string{"tty"}, in: map[way]place{
		wayServer: no(whyStreams), wayAttach: idle, wayLook: idle, wayWatch: idle, wayCore: none}},

	{flags: []string{"stage", "stage-gdb"}, in: map[way]place{wayServer: no(whyNoStage), wayLocal: idle}},
	{flags: []string{"ranks", "rank-from", "listen", "queue-wait", "output", "starter-env", "starter-env-add", "starter-env-unset",
		"starter-env-prepend", "starter-env-append"}, in: map[way]place{wayLocal: idle}},
	{flags: []string{"when-lost", "secret-file", "linger"}, in: map[way]place{wayCore: none}},

	{flags: []string{"execute", "eval"}, any: true, in: map[way]place{
		wayLook: none, wayWatch: none, wayFrontEnd: no(whyFrontEnd), wayReport: no(whyReport)}},
	{flags: []string{"batch"}, in: map[way]place{
		wayLook: none, wayWatch: none, wayFrontEnd: no(whyFrontEnd), wayReport: no(whyReport)}},
	{flags: []string{"connect"}, in: map[way]place{wayReport: no(whyReport)}},
	{flags: []string{"stop-on-error", "echo", "no-rc", "rc"}, in: map[way]place{wayLook: none, wayWatch: none}},
	{flags: []string{"fold"}, in: map[way]place{wayLook: none, wayWatch: none, wayOpen: none}},
	{flags: []string{"wait"}, in: map[way]place{wayOpen: none}},
	{flags: []string{"format", "whole-sets", "color", "timeout"}, in: map[way]place{wayWatch: none}},
}

// flagsOf returns the flags that are of a kind in a way, whatever their values.
func flagsOf(w way, kind placeKind) (names []string) {
	for _, r := range rows {
		if r.in[w].kind == kind && r.values == nil && r.but == nil {
			names = append(names, r.flags...)
		}
	}
	return names
}

// asked is a command line that has been parsed, and the ways that it goes.
type asked struct {
	flags    *flagSet
	ways     []way
	programs int    // of the job
	starter  string // "": none
	launcher string // value of --launcher
}

// refusal returns why a flag has no place in the ways that are gone; nil: all have one.
func (a asked) refusal() error {
	slices.SortFunc(a.ways, func(x, y way) int { return int(y - x) })
	for _, r := range rows {
		for _, name := range r.flags {
			if p := r.placeIn(a.ways); p.kind == refused && a.gives(r, name) {
				return errors.New(a.words(p.why, name))
			}
		}
	}
	return nil
}

// placeIn returns the place of the row in the first of some ways that it names; fine if it names
// none.
func (r row) placeIn(some []way) place {
	for _, w := range some {
		if p, said := r.in[w]; said {
			return p
		}
	}
	return fine
}

// gives reports whether a flag of a row is given, with a value that the row is about.
func (a asked) gives(r row, name string) bool {
	if name == severalPrograms {
		return a.programs > 1
	}
	f := a.flags.Lookup(name)
	switch {
	case f == nil || !f.Changed:
		return false
	case r.values != nil:
		return slices.Contains(r.values, f.Value.String())
	case slices.Contains(r.but, f.Value.String()):
		return false
	case r.typed:
		return a.flags.isTyped(name)
	}
	return r.any || f.Value.String() != f.DefValue
}

// words fills in a reason.
func (a asked) words(why, name string) string {
	value := ""
	if f := a.flags.Lookup(name); f != nil {
		value = f.Value.String()
		if list, is := f.Value.(pflag.SliceValue); is {
			value = list.GetSlice()[0]
		}
	}
	return strings.NewReplacer("{flag}", "--"+name, "{value}", value, "{starter}", a.starter, "{launcher}", a.launcher).Replace(why)
}

// helpWays is the help topic about ways: what is typed for each, and which flags have no place there.
func helpWays() string {
	var b strings.Builder
	b.WriteString("Ways to get at ranks, and the flags that have no place in them:\n")
	for w, known := range ways {
		fmt.Fprintf(&b, "\n%s\n", known.typed)
		if known.of >= 0 {
			fmt.Fprintf(&b, "  as with %s, and:\n", ways[known.of].typed)
		}
		for _, why := range reasonsIn(way(w)) {
			fmt.Fprintf(&b, "  %s\n", why)
		}
		if names := flagsOf(way(w), ignored); len(names) > 0 {
			fmt.Fprintf(&b, "  without effect: --%s\n", strings.Join(names, ", --"))
		}
	}
	return b.String()
}

// reasonsIn returns the reasons for which flags are refused in a way, as they are said of no command line.
func reasonsIn(w way) (all []string) {
	general := strings.NewReplacer("{starter}", "the starter", "{launcher}", "mpir or pmix", "{value}", "X")
	for _, r := range rows {
		if r.in[w].kind != refused {
			continue
		}
		names := "--" + r.flags[0]
		if len(r.flags) > 1 {
			names += " (and its like)"
		}
		why := strings.ReplaceAll(r.in[w].why, "{flag}", names)
		if why = general.Replace(why); !slices.Contains(all, why) {
			all = append(all, why)
		}
	}
	return all
}
