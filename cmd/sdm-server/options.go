// The flags of sdm-server.

package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/gdbflags"
	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/launch/stage"
	"sdm/protocol"
)

// options are the flags as given; see declare for their meaning.
type options struct {
	server, size                   int
	byHost                         bool
	attach, jobid, hydra, match    string
	list                           bool
	listens                        int
	rankVars                       string
	rankFrom                       launch.RankFrom // read from rankVars
	background                     bool
	like                           bool // --like-ranks
	host, session                  string
	linkFD, listenFD, secretFD     int
	rendezvous, listen, secretFile string
	routingFile                    string
	port                           int
	perNode                        bool
	ranks                          string // ranks to debug; "": all
	backend                        string
	gdb                            gdbflags.Values
	gdbsAhead                      int
	early                          early // what was started for gdbsAhead
	output                         string
	own                            *atomic.Pointer[[]string] // see ownEnvironment; nil: without --like-ranks
	linger, connectWait, startWait time.Duration
	lost                           string // value of --when-lost
	log                            startup.Log
	version                        bool
	stage, stageHash, staged       string
	unstaged                       string          // why this process is no copy; "": it is one, or --stage was not given
	received                       *stage.Receiver // receives a gdb from the master (--stage-gdb of sdm)

	program []string // what follows the flags
}

// modes are the flags that choose how to connect to the parent. Exactly one is given.
var modes = []string{"link-fd", "listen-fd", "rendezvous", "port", "routing-file"}

const usage = `sdm-server is one server of sdm: it starts ranks, debugs them and passes on their
output. Users do not start it; sdm, a starter (mpirun, srun) or a batch system does.

  sdm-server --link-fd N                                the parent writes to descriptor N and reads from N+1
  sdm-server --listen-fd N --secret-fd M                parents dial the listening descriptor N
  sdm-server --rendezvous HOST:PORT [-- PROGRAM ARG...] register with a master, then wait for the parent
  sdm-server --port BASE [-- PROGRAM ARG...]            wait for the parent at the first free port from BASE
  sdm-server --routing-file FILE                        the same from the port that the file has for this server

With PROGRAM it stands in for a rank that the starter wanted to start: it starts the
program under control, keeps the slot until the session ends, and exits as it did.

`

const footer = `
Each flag can be set in the environment: --connect-wait is SDM_CONNECT_WAIT. A flag on the
command line takes precedence. Secrets are never given by flag or environment, only the names of their files.
`

// declare declares the flags.
func (o *options) declare(f *pflag.FlagSet) {
	f.IntVar(&o.server, "server", -1, "number of this server, from 0 (default: the rank that the starter gave: OMPI_COMM_WORLD_RANK, SLURM_PROCID and the like, or --rank-from)")
	f.BoolVar(&o.byHost, "by-host", false, "with --rendezvous: the master gives the number, by the name of this host")
	f.StringVar(&o.attach, "attach", "", "`PID,PID...` of ranks on this host that run already: they are attached to, none is started")
	f.StringVar(&o.jobid, "jobid", "", "`ID` of a running job: the same for its ranks on this host (their PMIX_NAMESPACE, PMI_JOBID, or Slurm's JOB.STEP; Slurm's JOB: those that mpirun has started in it)")
	f.StringVar(&o.hydra, "hydra", "", "`HOST:PORT`, the --control-port of a running mpiexec of MPICH: the same for the ranks below its proxies on this host")
	f.StringVar(&o.match, "match", "", "with --list: the user's processes on this host whose `\"PROGRAM ARG...\"` are like that")
	f.IntVar(&o.listens, "listens", 0, "with --list: the user's processes on this host that listen on this `port`")
	f.StringVar(&o.rankVars, "rank-from", "", "`RANK[,SIZE[,LOCAL_RANK[,LOCAL_SIZE[,JOB]]]]`: the variables by which a starter that sdm does not know numbers its processes")
	f.BoolVar(&o.list, "list", false, "only list which ranks of --attach, --jobid, --hydra, --match or --listens are on this host, as a line of JSON")
	f.BoolVar(&o.background, "background", false, "close the standard streams after the registration")
	f.BoolVar(&o.like, "like-ranks", false, "take over environment and directory of the first rank that is attached to, without what makes it a rank or is loaded into it")
	f.IntVar(&o.size, "size", 0, "servers in the session (default: as the starter says)")
	f.StringVar(&o.host, "host", "", "name of this host in messages (default: its own)")
	f.StringVar(&o.session, "session", "", "name of the session; neighbours of another session are refused")
	f.IntVar(&o.linkFD, "link-fd", -1, "descriptor of a socket or pipe from the parent; the next one is to it")
	f.IntVar(&o.listenFD, "listen-fd", -1, "descriptor of a listening socket")
	f.IntVar(&o.secretFD, "secret-fd", -1, "descriptor that gives the secret, 32 bytes; with --listen-fd its end means that our starter has gone")
	f.StringVar(&o.rendezvous, "rendezvous", "", "`HOST:PORT` where a master takes registrations; several with commas, best first")
	f.StringVar(&o.ranks, "ranks", "", "with --per-node: the `set` of ranks that are debugged; the programs of the others run without us (default: all)")
	f.BoolVar(&o.perNode, "per-node", false, "with --rendezvous in the slots of a starter: one server for each node; the other slots hold their ranks for it")
	f.IntVar(&o.port, "port", 0, "first port to listen on; up to 1000 following ones are tried")
	f.StringVar(&o.routingFile, "routing-file", "", "`FILE` of N, then lines of number, host, port, which may be written later; with --per-node one server for each node has its ranks")
	f.StringVar(&o.listen, "listen", "", "`HOST` or address to listen on (default: this host's own and the loopback, or the one that reaches the master)")
	f.StringVar(&o.secretFile, "secret-file", "", "`PATH` of the secret (default: ~/.config/sdm/secret)")
	f.StringVar(&o.backend, "backend", "gdb", "engine: gdb, lazy for gdb from the first command on that needs it, probe for stacks only, or sim for simulated ranks")
	o.gdb.Declare(f)
	f.IntVar(&o.gdbsAhead, "gdbs-ahead", 0, "how many gdbs to start before the ranks are known, for ranks that run already")
	f.DurationVar(&o.startWait, "start-wait", 0, "how long gdbs may take to start, and then to attach; 0: 4m0s to start, and no limit to attach")
	f.StringVar(&o.output, "output", "console", "who gets the output of the ranks: console, or starter")
	f.DurationVar(&o.linger, "linger", 0, "how long the ranks are kept unchanged after the master is lost, before the session ends")
	f.StringVar(&o.lost, "when-lost", "kill", "what is done with them then: kill, or detach (they run on)")
	f.DurationVar(&o.connectWait, "connect-wait", defaultConnectWait, "how long to wait for a master or parent server; 0 is without limit")
	f.StringVar(&o.stage, "stage", "", "`directory` in node-local storage from which to run a copy of this program")
	f.StringVar(&o.stageHash, "stage-hash", "", "SHA-256 that the copy must have")
	f.StringVar(&o.staged, "staged", "", "`path` of this copy")
	o.log.Declare(f)
	f.BoolVar(&o.version, "version", false, "print the version and exit")
}

// defaultConnectWait is how long a server waits for its master or parent. The nodes of a job start
// within minutes of one another. A job whose master never comes, or has another port, must not hold
// its nodes until its time limit. Users who start the master later give a longer wait.
const defaultConnectWait = 10 * time.Minute

// maxAhead bounds the gdbs that are started before the ranks are known.
const maxAhead = 64

// attended returns the wait for the parent of servers that notice when their master or starter is
// gone: --connect-wait if it is given, otherwise 0, which is without limit.
func (o *options) attended() time.Duration {
	if o.connectWait == defaultConnectWait {
		return 0
	}
	return o.connectWait
}

// parse reads the command line, and then the environment for flags that were not given. The error
// is pflag.ErrHelp if help was asked for and shown.
func parse(args, env []string, stdout io.Writer) (*options, error) {
	o := &options{received: &stage.Receiver{}}
	f := startup.NewFlags("sdm-server")
	o.declare(f)
	err := startup.Read(f, args, env, stdout, usage, footer, modes)
	o.program = f.Args()
	if err != nil || o.version {
		return o, err
	}
	return o, o.check(f)
}

// check returns what is wrong with the flags.
func (o *options) check(f *pflag.FlagSet) error {
	var chosen []string
	for _, m := range modes {
		if f.Changed(m) {
			chosen = append(chosen, "--"+m)
		}
	}
	badPlace := o.checkRendezvous()
	var badVars error
	o.rankFrom, badVars = launch.ParseRankFrom(o.rankVars)
	badGDB := o.gdb.Check()
	switch {
	case badVars != nil:
		return fmt.Errorf("--rank-from: %w", badVars)
	case moreThanOne(o.attach, o.jobid, o.hydra, o.match):
		return errors.New("--attach, --jobid, --hydra and --match: give only one of them")
	case (o.match != "" || o.listens != 0) && !o.list:
		return errors.New("--match and --listens go with --list")
	case o.list && o.existing() == (o.listens != 0):
		return errors.New("--list goes with one of --attach, --jobid, --hydra, --match and --listens, and with nothing else")
	case o.list && (len(chosen) > 0 || len(o.program) > 0):
		return errors.New("--list goes with one of --attach, --jobid, --hydra, --match and --listens, and with nothing else")
	case o.list:
		return nil
	case len(chosen) == 0:
		return errors.New("how is the parent to be met? give one of --link-fd, --listen-fd, --rendezvous, --port, --routing-file; see sdm-server --help")
	case len(chosen) > 1:
		return fmt.Errorf("%s: give only one of them", strings.Join(chosen, " and "))
	case o.perNode && o.rendezvous == "" && o.routingFile == "":
		return errors.New("--per-node needs --rendezvous or --routing-file: the master numbers the nodes, or the file does")
	case o.ranks != "" && (!o.perNode || len(o.program) == 0):
		return errors.New("--ranks: only in the slots of a starter, with --per-node and -- PROGRAM")
	case o.routingFile != "" && len(o.program) > 0:
		return errors.New("--routing-file goes without a program: the session's launch names it")
	case o.perNode && o.session == "" && o.routingFile == "":
		return errors.New("--per-node needs --session NAME: the slots of a node meet by it")
	case o.byHost && (o.rendezvous == "" || o.perNode || o.server >= 0):
		return errors.New("--by-host goes with --rendezvous, without --server and --per-node")
	case o.existing() && (o.rendezvous == "" || len(o.program) > 0):
		return errors.New("--attach, --jobid and --hydra go with --rendezvous, and without a program: the ranks run already")
	case o.listenFD >= 0 && o.secretFD < 0:
		return errors.New("--listen-fd needs --secret-fd")
	case o.secretFD >= 0 && o.listenFD < 0 && o.rendezvous == "":
		return errors.New("--secret-fd goes with --listen-fd or --rendezvous")
	case f.Changed("port") && (o.port < 1 || o.port > 65535):
		return fmt.Errorf("--port %d is not from 1 to 65535", o.port)
	case badPlace != nil:
		return badPlace
	case badGDB != nil:
		return badGDB
	case o.gdbsAhead < 0 || o.gdbsAhead > maxAhead:
		return fmt.Errorf("--gdbs-ahead %d is not from 0 to %d", o.gdbsAhead, maxAhead)
	case o.gdbsAhead > 0 && o.like:
		return errors.New("--gdbs-ahead goes without --like-ranks: the environment of the gdbs would be another one")
	case o.output != "console" && o.output != "starter":
		return fmt.Errorf("--output %q: give console or starter", o.output)
	case o.lost != "kill" && o.lost != "detach":
		return fmt.Errorf("--when-lost %q: give kill or detach", o.lost)
	case o.linger < 0 || o.connectWait < 0:
		return errors.New("--linger and --connect-wait cannot be negative")
	}
	return nil
}

// checkRendezvous refuses addresses at which no master can be.
func (o *options) checkRendezvous() error {
	if o.rendezvous == "" {
		return nil
	}
	for _, place := range o.meetingPlaces() {
		if err := startup.CheckAddress(place, 1); err != nil {
			return fmt.Errorf("--rendezvous %s: %w (write HOST:PORT)", place, err)
		}
	}
	return nil
}

// meetingPlaces returns the addresses of the master, the best first.
func (o *options) meetingPlaces() []string { return strings.Split(o.rendezvous, ",") }

// moreThanOne reports whether several of the texts are not empty.
func moreThanOne(texts ...string) bool {
	given := 0
	for _, t := range texts {
		if t != "" {
			given++
		}
	}
	return given > 1
}

// slot returns the program of the slot; nil if none was given.
func (o *options) slot() *protocol.Job {
	if len(o.program) == 0 {
		return nil
	}
	return &protocol.Job{Program: o.program[0], Args: o.program[1:]}
}

// ownDescriptors returns the descriptors that ranks must not inherit.
func (o *options) ownDescriptors() []int {
	own := []int{o.linkFD, o.listenFD, o.secretFD}
	if o.linkFD >= 0 {
		own = append(own, o.linkFD+1)
	}
	return own
}
