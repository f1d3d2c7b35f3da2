package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"sdm/cmd/internal/startup"
	"sdm/launch/secret"
	"sdm/master/frontend/console"
	"sdm/master/frontend/console/text"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
)

// listen executes sdm listen: the console for a master that connects to it.
func (a *app) listen(args []string) console.Status {
	o := newOptions(a.env)
	if status, done := a.read(o, o.listenFlags(), args, listenHelp); done {
		return status
	}
	addr, program, err := o.listenArgs()
	if err = errors.Join(err, o.validate()); err != nil {
		return a.fail(console.StatusUsage, firstOf(err))
	}
	key, err := o.key()
	if err != nil {
		return a.fail(console.StatusUsage, err)
	}
	return a.within(o, func(l *lifetime, p *plan) console.Status {
		client, report, status := a.await(l.ctx, p, addr, key)
		if client == nil {
			return status
		}
		p.lost = report.Lost()
		return a.drive(l, p, client, report.Ranks, program)
	})
}

// slotProgram stands for the program that the servers were given after "--".
const slotProgram = "-"

// listenArgs reads "[HOST:]PORT [-- PROGRAM [ARG...]]".
func (o *options) listenArgs() (addr string, program []string, err error) {
	if len(o.args) == 0 || o.dashed == 0 {
		return "", nil, errors.New("listen where? (sdm listen [HOST:]PORT; port 0 picks one)")
	}
	addr, program = o.args[0], o.args[1:]
	if len(program) > 0 && o.dashed != 1 {
		return "", nil, fmt.Errorf("%q: a program stands behind -- (sdm listen %s -- %s)", program[0], addr, program[0])
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

func (o *options) key() (secret.Key, error) {
	if o.secretFile != "" {
		return secret.File(o.secretFile)
	}
	return secret.User()
}

// await waits for the master and lets it build the tree. If the client is nil, the status is that
// of the failed invocation.
func (a *app) await(ctx context.Context, p *plan, addr string, key secret.Key) (*rpc.Client, session.Report, console.Status) {
	door, err := rpc.Listen(addr, rpc.Options{Secret: key[:], Plaintext: p.o.plaintext, Build: startup.Build(), Log: p.log})
	if err != nil {
		return nil, session.Report{}, a.fail(console.StatusNoTree, fmt.Errorf("listen: %w", err))
	}
	defer door.Close()
	fmt.Fprintf(a.stderr, "sdm: waiting for a master; start it with: %s\n", masterLine(p.o, addr, door.Addr()))
	client, err := door.Accept(ctx)
	if err != nil {
		return nil, session.Report{}, a.notBuilt(ctx, err, nil)
	}
	report, err := a.initialize(ctx, p.o, client)
	if err == nil {
		return client, report, console.StatusGood
	}
	status := a.notBuilt(ctx, err, nil)
	end, cancel := closing()
	defer cancel()
	client.Close(end) // without a tree there is nothing to lose
	return nil, report, status
}

// initialize lets the master build the tree, and shows its events meanwhile, so that a waiting user
// sees how many servers have registered. Its goroutine ends with the call.
func (a *app) initialize(ctx context.Context, o *options, client *rpc.Client) (report session.Report, err error) {
	built := make(chan struct{})
	go func() {
		defer close(built)
		report, err = client.Initialize(ctx, rpc.Setup{Tree: o.tree, Wait: setupWait(o), Partial: o.partial})
	}()
	events := client.Events()
	for {
		select {
		case e, ok := <-events:
			if !ok {
				events = nil // Initialize ends, too
				continue
			}
			a.pass(o, e)
		case <-built:
			return report, err
		}
	}
}

// pass writes an event that arrives before the console runs.
func (a *app) pass(o *options, e session.Event) {
	if o.ndjson() {
		a.out.Write(append(e.AppendJSON(nil), '\n'))
		return
	}
	a.stderr.WriteString((&text.Writer{}).Event(e))
}

func setupWait(o *options) rpc.Wait {
	if o.connectWait == 0 {
		return -1
	}
	return rpc.Wait(o.connectWait)
}

// masterLine returns the command line of the master, with the host as it was given and the port
// that is in use.
func masterLine(o *options, asked string, got net.Addr) string {
	at := got.String()
	if host, _, err := net.SplitHostPort(asked); err == nil && host != "" {
		if _, port, err := net.SplitHostPort(at); err == nil {
			at = net.JoinHostPort(host, port)
		}
	}
	line := "sdm-master --connect " + at
	if o.secretFile != "" {
		line += " --secret-file " + o.secretFile
	}
	return line
}
