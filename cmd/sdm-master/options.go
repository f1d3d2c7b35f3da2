// The flags of sdm-master.

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
	"sdm/master"
	"sdm/master/dial"
	"sdm/master/frontend/rpc"
	"sdm/tree/topology"
)

// options are the flags as given; see declare for their meaning.
type options struct {
	original
	frontend                string
	connect, listen         string
	quiet                   bool
	secretFile, session     string
	plaintext               bool
	connectWait, wait       time.Duration
	heartbeat, silence      time.Duration
	routingFile, rendezvous string
	hosts                   []string
	port, servers           int
	tree                    string
	log                     startup.Log
	version                 bool
	keep                    time.Duration
	keepGiven               bool // several front ends share the session
	outputLog               string
}

const usage = `sdm-master is the master of an sdm session without a console: it dials a front end,
builds the tree of servers as the front end or its flags say, and speaks JSON-RPC 2.0
or Eclipse PTP's debug protocol (docs/protocol.md). Users mostly start sdm; IDEs and batch jobs start this.

  sdm-master --connect HOST:PORT      the front end listens there (sdm listen, or an IDE)
  sdm-master --connect unix:PATH      the same through a unix socket
  sdm-master --connect stdio          the front end has started us and speaks through stdin and stdout
  sdm-master --listen [HOST:]PORT     the front end comes to us; port 0 picks one and says it; also unix:PATH
  sdm-master --keep TIME              front ends come and go (sdm join); with --connect or --listen these, too
  sdm-master --frontend ptp --connect HOST:PORT --routing-file FILE   an Eclipse PTP listens there
  sdm-master --master --host=HOST --port=PORT --routing_file=FILE     the same, as Eclipse says it

The front end's "initialize" says where the servers are, or one of
  --routing-file FILE                 servers listen where the file says
  --rendezvous HOST:PORT              servers come to us (sdm-server --rendezvous HOST:PORT)
  --generate-routes HOST,HOST --port BASE   servers are spread evenly over the hosts

`

const footer = `
Each flag can be set in the environment: --connect-wait is SDM_CONNECT_WAIT. A flag on the
command line takes precedence. Exit status: 0 the session ended as it should; 1 the front end was lost;
2 usage; 4 there is no front end, or the tree could not be built; 130 interrupted.
`

// ports is the size of the port range, from the base port upwards, in which a server may listen.
// Master and servers must agree on it (as in the original SDM).
const ports = 1000

// declare declares the flags.
func (o *options) declare(f *pflag.FlagSet) {
	f.StringVar(&o.frontend, "frontend", frontendRPC, "what the front end speaks: rpc (JSON-RPC 2.0) or ptp (Eclipse PTP's debug protocol)")
	f.StringVar(&o.connect, "connect", "", "where the front end is: `HOST:PORT`, unix:PATH or stdio")
	f.BoolVar(&o.quiet, "quiet", false, "write errors only, no notes about the start")
	f.StringVar(&o.listen, "listen", "", "where to wait for one front end: `[HOST:]PORT`, or unix:PATH; without HOST only this host can connect")
	f.DurationVar(&o.keep, "keep", 0, "let front ends join and leave the session (sdm join), which goes on for this `time` without any")
	f.StringVar(&o.outputLog, "output-log", "", "with --keep: `file` to which all that the ranks write is added")
	f.DurationVar(&o.connectWait, "connect-wait", dial.DefaultWait, "how long to wait for the front end and for the servers")
	f.StringVar(&o.secretFile, "secret-file", "", "`PATH` of the secret (default: ~/.config/sdm/secret)")
	f.BoolVar(&o.plaintext, "plaintext", false, "permit a front end without TLS; the secret is required all the same")
	f.StringVar(&o.session, "session", "", "name of the session; servers of another session are refused")
	f.StringVar(&o.routingFile, "routing-file", "", "`FILE` that says where the servers listen: N, then lines of number, host, port")
	f.StringVar(&o.rendezvous, "rendezvous", "", "`HOST:PORT` where servers register; port 0 picks one and says it")
	f.StringSliceVar(&o.hosts, "generate-routes", nil, "`HOSTS`, comma between, over which the servers are spread evenly")
	f.IntVar(&o.port, "port", 0, "base port of the servers of --generate-routes; up to 1000 following ones are tried. With --host that of the front end")
	f.IntVar(&o.servers, "servers", 0, "number of servers (default: as their starter says, or one per host)")
	f.StringVar(&o.tree, "tree", "binomial", "shape of the tree: binomial, flat or a number of children")
	f.DurationVar(&o.wait, "wait", master.DefaultWait, "how long to wait for answers unless a call says otherwise")
	f.DurationVar(&o.heartbeat, "heartbeat", master.DefaultHeartbeat, "interval of heartbeats to the servers; 0 is none")
	f.DurationVar(&o.silence, "silence", master.DefaultSilence, "how long a server may be silent before it is lost; servers below a silent one wait ten times as long if they have no other ancestor")
	o.log.Declare(f)
	o.original.declare(f)
	f.BoolVar(&o.version, "version", false, "print the version and exit")
}

// parse reads the command line, and then the environment for flags that were not given. The error
// is pflag.ErrHelp if help was asked for and shown.
func parse(args, env []string, stdout io.Writer) (*options, error) {
	o := &options{}
	f := startup.NewFlags("sdm-master")
	f.SetInterspersed(true)
	o.declare(f)
	if err := startup.Read(f, args, env, stdout, usage, footer, sources, []string{"connect", "listen"}, []string{"connect", "host"},
		[]string{"listen", "host"}); err != nil || o.version {
		return o, err
	}
	o.keepGiven = f.Changed("keep")
	err := o.settle(f)
	if err == nil {
		err = o.check(f.Args())
	}
	if err != nil {
		return nil, fmt.Errorf("%w; see sdm-master --help", err)
	}
	return o, nil
}

// sources are the flags that tell where the servers are. At most one is given.
var sources = []string{"routing-file", "rendezvous", "generate-routes"}

// hasRoutes reports whether the flags tell where the servers are.
func (o *options) hasRoutes() bool {
	return o.routingFile != "" || o.rendezvous != "" || len(o.hosts) > 0
}

// check returns what is wrong with the options and what to give instead.
func (o *options) check(rest []string) error {
	given := 0
	for _, source := range []bool{o.routingFile != "", o.rendezvous != "", len(o.hosts) > 0} {
		if source {
			given++
		}
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is no flag (servers are started by the starter, not by the master)", rest[0])
	case o.keepGiven && o.keep <= 0:
		return errors.New("--keep: give a time, as 30m (without --keep the session ends with its front end)")
	case o.keepGiven && o.frontend == frontendPTP:
		return errors.New("--keep: front ends of Eclipse PTP cannot join a session that runs")
	case o.outputLog != "" && !o.keepGiven:
		return errors.New("--output-log goes with --keep")
	case o.connect == "" && o.listen == "" && o.frontend != frontendPTP && !o.keepGiven:
		return errors.New("where is the front end? give --connect HOST:PORT, unix:PATH or stdio, or --listen PORT, or --keep TIME for sdm join")
	case o.connect != "" && o.listen != "":
		return errors.New("--connect and --listen: give one of them")
	case given > 1:
		return errors.New("--routing-file, --rendezvous and --generate-routes exclude one another")
	case o.heartbeat < 0 || o.heartbeat > 0 && o.silence < o.heartbeat:
		return errors.New("--silence must not be shorter than --heartbeat, and neither be negative")
	case o.servers < 0 || o.wait < 0 || o.connectWait <= 0:
		return errors.New("--servers, --wait and --connect-wait must not be negative")
	case o.servers > rpc.MaxServers:
		return fmt.Errorf("--servers %d: there are %d at most", o.servers, rpc.MaxServers)
	case len(o.hosts) > 0 && (o.port < 1 || o.port > 65535):
		return errors.New("--generate-routes needs the servers' --port BASE, 1 to 65535")
	}
	if err := o.checkFrontEnd(); err != nil {
		return err
	}
	if _, err := topology.ParseShape(o.tree, 1); err != nil {
		return fmt.Errorf("--tree: %w", err)
	}
	if err := checkAddr(o.connect); err != nil && o.connect != "" {
		return fmt.Errorf("--connect %s: %w", o.connect, err)
	}
	if _, _, err := net.SplitHostPort(o.listenAddr()); err != nil && o.listen != "" && !strings.HasPrefix(o.listen, "unix:") {
		return fmt.Errorf("--listen %s: write [HOST:]PORT, or unix:PATH", o.listen)
	}
	return checkRendezvous(o.rendezvous)
}

// listenAddr returns the address of --listen with a colon before the port.
func (o *options) listenAddr() string {
	if strings.Contains(o.listen, ":") {
		return o.listen
	}
	return ":" + o.listen
}

// checkAddr returns what is wrong with the address of a front end.
func checkAddr(addr string) error {
	if addr == stdio || strings.HasPrefix(addr, "unix:") {
		return nil
	}
	if err := startup.CheckAddress(addr, 1); err != nil {
		return fmt.Errorf("%w (write HOST:PORT, unix:PATH or stdio)", err)
	}
	return nil
}

// checkRendezvous refuses addresses without a host, which would be open to all networks.
func checkRendezvous(addr string) error {
	if addr == "" {
		return nil
	}
	if err := startup.CheckAddress(addr, 0); err != nil {
		return fmt.Errorf("--rendezvous %s: %w (write HOST:PORT; 0.0.0.0:PORT is all networks)", addr, err)
	}
	return nil
}
