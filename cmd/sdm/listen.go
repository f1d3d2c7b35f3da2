// sdm listen: a master dials in.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/startup"
	"sdm/launch/secret"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// listenOptions are the values of the flags of sdm listen.
type listenOptions struct {
	options
	plaintext bool
	partial   bool
}

// flags returns the flags of sdm listen.
func (o *listenOptions) flags() *flagSet {
	f := newFlags("listen", usageListen)
	f.SetInterspersed(true) // PROGRAM follows --
	o.declare(f)
	f.add("The master", func(f *pflag.FlagSet) {
		f.BoolVar(&o.plaintext, "plaintext", false, "permit a master without TLS")
		f.BoolVar(&o.partial, "partial", false, "when --connect-wait is over, continue with the servers that have registered; the ranks of the others are lost")
	})
	return f
}

// plan checks the options: sdm listen is the console for a master that connects to it.
func (o *listenOptions) plan(a *app, f *flagSet) (*plan, error) {
	addr, program, err := o.listenArgs(f)
	if err == nil {
		err = o.refusal(f, wayListen)
	}
	if err == nil {
		err = o.validate()
	}
	if err != nil {
		return nil, err
	}
	key, err := o.job.Servers.Key()
	if err != nil {
		return nil, err
	}
	return a.planned(&o.options, func(ctx context.Context, p *plan) (*job.Job, error) {
		client, report, err := a.await(ctx, o, p.log, addr, key)
		if err != nil {
			return nil, err
		}
		p.program = o.ranks.program(program)
		return &job.Job{Session: client, Ranks: report.Ranks, Lost: report.Lost()}, nil
	}), nil
}

// listenArgs reads "[HOST:]PORT [-- PROGRAM [ARG...]]".
func (o *listenOptions) listenArgs(f *flagSet) (addr string, program []string, err error) {
	o.args = f.Args()
	dashed := f.ArgsLenAtDash() // number of arguments before "--"; -1: there is none
	if len(o.args) == 0 || dashed == 0 {
		return "", nil, errors.New("listen where? (sdm listen [HOST:]PORT; port 0 picks one)")
	}
	addr, program = o.args[0], o.args[1:]
	if len(program) > 0 && dashed != 1 {
		return "", nil, fmt.Errorf("%q: a program comes after -- (sdm listen %s -- %s)", program[0], addr, program[0])
	}
	if len(program) == 0 {
		program = []string{protocol.GivenProgram}
	}
	if !strings.Contains(addr, ":") {
		addr = ":" + addr
	}
	_, port, err := net.SplitHostPort(addr)
	if err == nil && !strings.HasPrefix(addr, "unix:") {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%q is not [HOST:]PORT", o.args[0])
	}
	return addr, program, nil
}

// await waits for the master and lets it build the tree.
func (a *app) await(ctx context.Context, o *listenOptions, log *slog.Logger, addr string,
	key secret.Key) (*rpc.Client, session.Report, error) {
	door, err := rpc.Listen(addr, rpc.Options{Secret: key[:], Plaintext: o.plaintext, Build: startup.Build(), Log: log})
	if err != nil {
		return nil, session.Report{}, job.NotBuilt(ctx, fmt.Errorf("listen: %w", err), nil)
	}
	defer door.Close()
	a.remark("waiting for a master; start it with: " + masterLine(o.job.Servers.SecretFile, addr, door.Addr()))
	client, err := door.Accept(ctx)
	if err != nil {
		return nil, session.Report{}, job.NotBuilt(ctx, err, nil)
	}
	report, err := a.initialize(ctx, o, client)
	if err != nil {
		err = job.NotBuilt(ctx, err, nil)
		servers.CloseInTime(client) // without a tree there is nothing to lose
	}
	return client, report, err
}

// initialize lets the master build the tree, and shows its events meanwhile, so that a waiting user
// sees how many servers have registered. Its goroutine ends with the call.
func (a *app) initialize(ctx context.Context, o *listenOptions, client *rpc.Client) (report session.Report, err error) {
	built := make(chan struct{})
	go func() {
		defer close(built)
		report, err = client.Initialize(ctx, rpc.Setup{Tree: o.job.Servers.Tree,
			Wait: rpc.Wait(noLimit(o.job.Servers.ConnectWait)), Partial: o.partial})
	}()
	events := client.Events()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil // Initialize ends, too
				continue
			}
			a.pass(o.console.ndjson(), e)
		case <-built:
			return report, err
		}
	}
}

// pass writes an event that arrives before the console runs.
func (a *app) pass(asJSON bool, e session.Event) {
	if asJSON {
		a.out.Write(append(e.AppendJSON(nil), '\n'))
		return
	}
	a.stderr.WriteString((&text.Writer{}).Event(e))
}

// masterLine returns the command line of the master, with the host as it was given and the port
// that is in use.
func masterLine(secretFile, asked string, got net.Addr) string {
	at := got.String()
	if host, _, err := net.SplitHostPort(asked); err == nil && host != "" {
		if _, port, err := net.SplitHostPort(at); err == nil {
			at = net.JoinHostPort(host, port)
		}
	}
	line := "sdm-master --connect " + at
	if secretFile != "" {
		line += " --secret-file " + secretFile
	}
	return line
}
