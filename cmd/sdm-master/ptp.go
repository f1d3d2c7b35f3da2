// The front end of Eclipse PTP, and the command line of the original SDM.

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sdm/master/dial"
	"sdm/master/frontend/ptp"
	"sdm/master/frontend/rpc"
	"sdm/master/peer"
	"sdm/master/session"
)

// Values of --frontend.
const (
	frontendRPC = "rpc"
	frontendPTP = "ptp"
)

// originalPort is the default port of the original SDM's front end.
const originalPort = 12345

// originalWait is how long the original SDM waits for the routing file and its servers.
const originalWait = 1000 * time.Second

// original are the values of the flags that Eclipse and its scripts give the original SDM besides
// --port and --routing_file.
type original struct {
	host, debugger, debuggerPath, proxy, debug string
	master                                     bool
}

// declare declares the flags, and makes f accept underscores in place of hyphens.
func (g *original) declare(f *pflag.FlagSet) {
	f.StringVar(&g.host, "host", "", "`HOST` of an Eclipse PTP front end; its port is --port then (default 12345). As --frontend ptp --connect HOST:PORT")
	f.BoolVar(&g.master, "master", false, "accepted as the original SDM does; has no effect")
	f.StringVar(&g.debugger, "debugger", "", "of the original SDM: gdb-mi is all that there is")
	f.StringVar(&g.debuggerPath, "debugger-path", "", "of the original SDM: has no effect on a master; servers take it as --gdb `PATH`")
	f.StringVar(&g.proxy, "proxy", "", "of the original SDM: tcp is all that there is")
	f.StringVar(&g.debug, "debug", "", "of the original SDM: as --log-level debug, whatever the `MASK`")
	f.Lookup("debug").NoOptDefVal = "all"
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName { // --routing_file
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-"))
	})
}

// settle translates the flags of the original SDM.
func (o *options) settle(f *pflag.FlagSet) error {
	if o.debug != "" && !f.Changed("log-level") {
		if err := f.Set("log-level", "debug"); err != nil {
			return err
		}
	}
	if (o.host != "" || o.frontend == frontendPTP) && !f.Changed("connect-wait") {
		o.connectWait = originalWait
	}
	switch {
	case o.debugger != "" && o.debugger != "gdb-mi":
		return fmt.Errorf("--debugger %s: gdb-mi is all that there is", o.debugger)
	case o.proxy != "" && o.proxy != "tcp":
		return fmt.Errorf("--proxy %s: tcp is all that there is", o.proxy)
	case o.host == "":
		return nil
	case o.connect != "" || o.listen != "":
		return errors.New("--host HOST --port PORT is --frontend ptp --connect HOST:PORT: give one of them, and no --listen")
	case f.Changed("frontend") && o.frontend != frontendPTP:
		return fmt.Errorf("--host is of Eclipse PTP: give --connect with --frontend %s", o.frontend)
	case len(o.hosts) > 0:
		return errors.New("--port is the front end's with --host: give --frontend ptp --connect HOST:PORT with --generate-routes")
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--port %d: there are 1 to 65535", o.port)
	case o.port == 0:
		o.port = originalPort
	}
	o.frontend, o.connect, o.port = frontendPTP, net.JoinHostPort(o.host, strconv.Itoa(o.port)), 0
	return nil
}

// checkFrontEnd refuses options that the front end does not support.
func (o *options) checkFrontEnd() error {
	switch {
	case o.frontend == frontendRPC:
		return nil
	case o.frontend != frontendPTP:
		return fmt.Errorf("--frontend %s: there are rpc and ptp", o.frontend)
	case o.listen != "" && !isLoopback(o.listen):
		return errors.New("--listen: Eclipse PTP's protocol has no proof of who speaks, so its front end is awaited on this host only: give --listen 127.0.0.1:PORT, or --connect HOST:PORT")
	case o.connect == stdio:
		return errors.New("--connect stdio: Eclipse PTP's front end listens: give --connect HOST:PORT")
	case o.listen != "" && o.hasRoutes():
		return nil
	case o.connect == "" && o.port != 0:
		return errors.New("where is the front end? give --host HOST with --port, or --connect HOST:PORT")
	case o.connect == "":
		return errors.New("where is the front end? give --host HOST, or --connect HOST:PORT")
	case !o.hasRoutes():
		return errors.New("where are the servers? Eclipse does not say: give --routing-file, --rendezvous or --generate-routes")
	}
	return nil
}

// talkPTP builds the tree, then connects to Eclipse and runs the session for it. The tree comes
// first, because Eclipse sends START SESSION at once and waits only a minute for the answer, while
// servers may wait in a queue for longer. If the tree cannot be built, the answer is the reason.
func (p *program) talkPTP(ctx context.Context) (served, unmet error) {
	if p.o.debuggerPath != "" {
		p.say("--debugger-path has no effect on the master: the servers take --gdb " + p.o.debuggerPath)
	}
	sess, report, failed := p.builder.open(ctx, rpc.Setup{}, p.say)
	conn, err := p.meetPTP(ctx)
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	open := func(context.Context) (session.Session, session.Report, error) { return sess, report, failed }
	return ptp.Serve(ctx, conn, open, p.log), nil
}

// isLoopback reports whether an address is one of this host that others cannot reach.
func isLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err == nil && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// meetPTP connects to Eclipse, once, as the original SDM does: Eclipse listens from before the launch on,
// and a port that refuses is one that it has closed, or gave to another master. Or it waits for Eclipse.
func (p *program) meetPTP(ctx context.Context) (net.Conn, error) {
	if p.o.listen == "" {
		return dial.Once(ctx, p.o.connect, p.o.connectWait)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.o.listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	defer l.Close()
	p.say(fmt.Sprintf("a front end is awaited at %s", l.Addr()))
	if p.o.connectWait > 0 {
		if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(p.o.connectWait)); err != nil {
			return nil, err
		}
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		c, err := l.Accept()
		if err != nil {
			return nil, fmt.Errorf("--listen %s: no front end has come: %w", p.o.listen, err)
		}
		err = peer.OfThisUser(c)
		if err == nil {
			return c, nil
		}
		c.Close()
		p.log.Error("a connection is refused", "err", err)
	}
}
