// Package original reads the command line of the original SDM, which is one program for both roles, and
// translates it for sdm-master and sdm-server. Eclipse PTP and its launch scripts write such lines.
package original

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sdm/launch/routefile"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Line is a command line. The same line is given to both roles: Host and Port belong to the front
// end; servers do not use them.
type Line struct {
	Master       bool
	Server       int    // number of the server; -1: not given
	Host         string // "": the front end connects to the master
	Port         int
	RoutingFile  string
	Generate     []string // hosts of the servers, for which the master writes the routing file
	DebuggerPath string   // "": gdb in PATH
	Debug        bool
}

// Wait is how long both roles wait for the routing file and for one another, as the original does.
const Wait = "1000s"

// port is the default port of the front end.
const port = 12345

// names are the flags of the original SDM.
var names = []string{"master", "server", "host", "port", "debugger", "debugger_path", "proxy", "routing_file", "generate_routes", "debug"}

// Is reports whether arguments are a line of the original SDM: they begin with a flag, and one of
// their flags is a flag of the original SDM.
func Is(args []string) bool {
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") {
		return false
	}
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		return strings.HasPrefix(a, "-") && slices.Contains(names, strings.ReplaceAll(name, "-", "_"))
	})
}

// Parse reads a line. Arguments that are no flags are ignored, as the original does.
func Parse(args []string) (Line, error) {
	l := Line{}
	var debugger, proxy, debug string
	f := pflag.NewFlagSet("sdm", pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "-", "_"))
	})
	f.BoolVar(&l.Master, "master", false, "")
	f.IntVar(&l.Server, "server", -1, "")
	f.StringVar(&l.Host, "host", "", "")
	f.IntVar(&l.Port, "port", port, "")
	f.StringVar(&debugger, "debugger", "gdb-mi", "")
	f.StringVar(&l.DebuggerPath, "debugger_path", "", "")
	f.StringVar(&proxy, "proxy", "tcp", "")
	f.StringVar(&l.RoutingFile, "routing_file", "routing_file", "")
	f.StringSliceVar(&l.Generate, "generate_routes", nil, "")
	f.StringVar(&debug, "debug", "", "")
	f.Lookup("debug").NoOptDefVal = "all"
	err := f.Parse(args)
	l.Debug = debug != ""
	switch {
	case err != nil:
		return l, err
	case debugger != "gdb-mi":
		return l, fmt.Errorf("--debugger=%s: there is gdb-mi only", debugger)
	case proxy != "tcp":
		return l, fmt.Errorf("--proxy=%s: there is tcp only", proxy)
	case l.Port < 1 || l.Port > 65535:
		return l, fmt.Errorf("--port=%d is not from 1 to 65535", l.Port)
	case f.Changed("server") && l.Server < 0:
		return l, fmt.Errorf("--server=%d: servers are numbered from 0", l.Server)
	}
	return l, nil
}

// MasterArgs returns the arguments of sdm-master.
func (l Line) MasterArgs() []string {
	args := []string{"--frontend", "ptp", "--quiet", "--routing-file", l.RoutingFile, "--connect-wait", Wait}
	address := net.JoinHostPort(l.Host, strconv.Itoa(l.Port))
	if l.Host == "" {
		args = append(args, "--listen", "127.0.0.1"+address)
	} else {
		args = append(args, "--connect", address)
	}
	return append(args, l.log()...)
}

// log returns the arguments about the log.
func (l Line) log() []string {
	if l.Debug {
		return []string{"--log-level", "debug"}
	}
	return []string{"--log-level", "error"}
}

// rankVariables are set by starters; the first that is set gives the number of a server.
var rankVariables = []string{
	"OMPI_COMM_WORLD_RANK", "OMPI_MCA_orte_ess_vpid", "OMPI_MCA_ns_nds_vpid", "PMI_RANK", "MP_CHILD", "PCMP_PTP_RANK", "SLURM_PROCID", "X10_PLACE",
}

// number returns the number of the server, and whether the starter has set it, which takes precedence
// over --server.
func (l Line) number(env []string) (n int, starter bool, err error) {
	for _, name := range rankVariables {
		for _, e := range env {
			if value, ok := strings.CutPrefix(e, name+"="); ok {
				n, err := strconv.Atoi(value)
				if err != nil || n < 0 || n > int(rank.MaxID) {
					return 0, true, fmt.Errorf("%s=%s is no number of a server", name, value)
				}
				return n, true, nil
			}
		}
	}
	if l.Server < 0 {
		return 0, false, errors.New("which server is this? give --server=N; the environment has no rank, either. With --master it is the master")
	}
	return l.Server, false, nil
}

// ServerArgs returns the arguments of sdm-server. The servers of a node become one, with shared gdbs.
func (l Line) ServerArgs(env []string) ([]string, error) {
	number, starter, err := l.number(env)
	if err != nil {
		return nil, err
	}
	args := []string{"--routing-file", l.RoutingFile, "--per-node", "--connect-wait", Wait}
	if !starter {
		args = append(args, "--server", strconv.Itoa(number))
	}
	if l.DebuggerPath != "" {
		args = append(args, "--gdb", l.DebuggerPath)
	}
	return append(args, l.log()...), nil
}

// Ports from which Routes chooses.
const (
	firstPort = 50000
	lastPort  = 59999
)

// Routes returns a routing table with a server on each of the hosts, at random ports.
func (l Line) Routes() (protocol.RouteTable, error) {
	var text strings.Builder
	fmt.Fprintln(&text, len(l.Generate))
	for i, host := range l.Generate {
		fmt.Fprintln(&text, i, host, firstPort+rand.IntN(lastPort-firstPort+1))
	}
	return routefile.Parse(strings.NewReader(text.String()))
}
