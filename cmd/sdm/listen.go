// The subcommand listen: a console for a master that connects to it.

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
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/master/text"
)

// listenOptions are the values of the flags of sdm listen.
type listenOptions struct {
	options
	plaintext bool
	partial   bool
	dashed    int // number of args before "--"; -1: there is none
}

// flags returns the flags of sdm listen.
func (o *listenOptions) flags() *flagSet {
	f := newFlags("listen")
	f.SetInterspersed(true) // PROGRAM follows --
	o.declare(f)
	f.add("The master", func(f *pflag.FlagSet) {
		f.BoolVar(&o.plaintext, "plaintext", false, "permit a master without TLS")
		f.BoolVar(&o.partial, "partial", false, "when --connect-wait is over, continue with the servers that have registered; the ranks of the others are lost")
	})
	return f
}

// read sets the options that are not flags from what was parsed.
func (o *listenOptions) read(f *flagSet) { o.args, o.dashed = f.Args(), f.ArgsLenAtDash() }

// listen executes sdm listen: the console for a master that connects to it.
func (a *app) listen(args []string) console.Status {
	o := &listenOptions{options: newOptions(a.env)}
	f := o.flags()
	if status, done := a.read(f, args, listenHelp); done {
		return status
	}
	o.read(f)
	addr, program, err := o.listenArgs()
	if err == nil {
		err = o.validate()
	}
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	key, err := o.job.Servers.Key()
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	return a.within(&o.options, func(l *lifetime, p *plan) console.Status {
		client, report, status := a.await(l.ctx, o, p.log, addr, key)
		if client == nil {
			return status
		}
		p.program = o.ranks.program(program)
		return a.drive(l, p, &job.Job{Session: client, Ranks: report.Ranks, Lost: report.Lost()})
	})
}

// slotProgram stands for the program that the servers were given after "--".
const slotProgram = "-"

// listenArgs reads "[HOST:]PORT [-- PROGRAM [ARG...]]".
func (o *listenOptions) listenArgs() (addr string, program []string, err error) {
	if len(o.args) == 0 || o.dashed == 0 {
		return "", nil, errors.New("listen where? (sdm listen [HOST:]PORT; port 0 picks one)")
	}
	addr, program = o.args[0], o.args[1:]
	if len(program) > 0 && o.dashed != 1 {
		return "", nil, fmt.Errorf("%q: a program comes after -- (sdm listen %s -- %s)", program[0], addr, program[0])
	}
	if len(program) == 0 {
		program = []string{slotProgram}
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

// await waits for the master and lets it build the tree. If the client is nil, the status is that
// of the failed invocation.
func (a *app) await(ctx context.Context, o *listenOptions, log *slog.Logger, addr string,
	key secret.Key) (*rpc.Client, session.Report, console.Status) {
	door, err := rpc.Listen(addr, rpc.Options{Secret: key[:], Plaintext: o.plaintext, Build: startup.Build(), Log: log})
	if err != nil {
		return nil, session.Report{}, a.fail(console.StatusNoTree, fmt.Errorf("listen: %w", err))
	}
	defer door.Close()
	a.remark("waiting for a master; start it with: " + masterLine(o.job.Servers.SecretFile, addr, door.Addr()))
	client, err := door.Accept(ctx)
	if err != nil {
		return nil, session.Report{}, a.notBuilt(ctx, err, nil)
	}
	report, err := a.initialize(ctx, o, client)
	if err == nil {
		return client, report, console.StatusGood
	}
	status := a.notBuilt(ctx, err, nil)
	end, cancel := servers.Closing()
	defer cancel()
	client.Close(end) // without a tree there is nothing to lose
	return nil, report, status
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
