// Runs the master for one front end, and its exit statuses.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
	"sdm/launch"
	"sdm/launch/secret"
	"sdm/master/frontend/rpc"
	"sdm/protocol"
	"sdm/tree/overlay"
)

// Exit statuses.
const (
	exitLost        = 1 // the front end has gone without quit
	exitUsage       = 2
	exitNoTree      = 4 // no front end, or no tree
	exitInterrupted = 130
)

// stdio is the address of a front end that has started this process.
const stdio = "stdio"

// closeWait is the grace period for the end of a session whose front end has gone. Then the links
// are closed, and the servers end as after the loss of their master.
const closeWait = 15 * time.Second

// program is a master that is about to run.
type program struct {
	o       *options
	log     *slog.Logger
	key     secret.Key
	version string
	builder *builder
	say     func(string) // writes to the user
}

// run executes the program and returns the exit status.
func run(args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	complain := func(err error, status int) int {
		fmt.Fprintf(stderr, "sdm-master: %v\n", err)
		return status
	}
	o, err := parse(args, env, stdout)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		return complain(err, exitUsage)
	case o.version:
		fmt.Fprintf(stdout, "sdm-master %s, protocol %d\n", startup.Build(), protocol.PacketVersion)
		return 0
	}
	log, logFile, err := o.log.Open(stderr)
	if err != nil {
		return complain(err, exitUsage)
	}
	defer logFile.Close()
	p := &program{o: o, log: log, version: startup.Build()}
	p.say = func(text string) {
		if !o.quiet {
			fmt.Fprintf(stderr, "sdm-master: %s\n", text)
		}
	}
	if err := p.prepare(env); err != nil {
		return complain(err, exitUsage)
	}
	ctx, stop := startup.Context(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	status, err := p.serve(ctx, stdin, stdout)
	if err != nil {
		return complain(err, status)
	}
	return status
}

// prepare reads the secret and makes the builder.
func (p *program) prepare(env []string) error {
	var err error
	if p.o.secretFile != "" {
		p.key, err = secret.File(p.o.secretFile)
	} else {
		p.key, err = secret.User()
	}
	if err != nil {
		return err
	}
	// An invalid environment of the starter is no reason not to run: it matters only if the
	// servers are in one job with the master.
	own, err := launch.Identify(env)
	if err != nil {
		p.log.Warn("the starter's environment makes no sense", "err", err)
	}
	p.builder = &builder{
		job: jobName(own, env), o: p.o, log: p.log, own: own, say: p.say, build: p.version,
		key: overlay.Secret(p.key).ForSession(p.o.session), first: make(chan overlay.Link, 1),
	}
	return nil
}

// serve connects to the front end and runs the session for it. At the end the front end is closed
// first, then the session with its servers and ranks.
func (p *program) serve(ctx context.Context, stdin io.Reader, stdout io.Writer) (status int, err error) {
	if p.o.rendezvous != "" {
		if err := p.builder.listen(p.o.rendezvous); err != nil {
			return exitNoTree, err
		}
	}
	defer p.builder.close()
	talk := p.talkRPC
	switch {
	case p.o.keepGiven:
		talk = p.keepRPC
	case p.o.frontend == frontendPTP:
		talk = func(ctx context.Context, _ io.Reader, _ io.Writer) (error, error) { return p.talkPTP(ctx) }
	}
	served, unmet := talk(ctx, stdin, stdout)
	closing, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	ended := p.builder.end(closing)
	switch {
	case unmet != nil && ctx.Err() != nil:
		return exitInterrupted, errors.Join(errors.New("interrupted"), ended)
	case unmet != nil:
		return exitNoTree, errors.Join(unmet, ended)
	case ctx.Err() != nil:
		return exitInterrupted, errors.Join(errors.New("interrupted"), ended)
	case served != nil && (p.builder.failed == nil || errors.Is(p.builder.failed, context.Canceled)):
		return exitLost, errors.Join(served, ended) // a tree that was not built is a consequence
	case p.builder.failed != nil:
		return exitNoTree, p.builder.failed
	}
	return 0, ended
}

// options returns the options of connections to front ends.
func (p *program) options() rpc.Options {
	return rpc.Options{Secret: p.key[:], Plaintext: p.o.plaintext, Wait: p.o.connectWait, Build: p.version,
		Job: p.builder.job, Log: p.log}
}

// talkRPC connects to a front end and runs the session for it. served is the error that has ended the
// session; unmet is the reason why there was no front end.
func (p *program) talkRPC(ctx context.Context, stdin io.Reader, stdout io.Writer) (served, unmet error) {
	options := p.options()
	conn, err := p.meet(ctx, options, stdin, stdout)
	if err != nil {
		return nil, err
	}
	return rpc.Serve(ctx, conn, p.builder.open, options), nil
}

// meet connects to the front end, or waits for it.
func (p *program) meet(ctx context.Context, o rpc.Options, stdin io.Reader, stdout io.Writer) (*rpc.Conn, error) {
	if p.o.connect == stdio {
		return rpc.Stdio(stdin, stdout), nil
	}
	if p.o.listen != "" {
		l, err := rpc.Listen(p.o.listenAddr(), o)
		if err != nil {
			return nil, fmt.Errorf("--listen: %w", err)
		}
		defer l.Close()
		p.say(fmt.Sprintf("a front end is awaited at %s", l.Addr()))
		return l.AcceptFrontEnd(ctx)
	}
	return rpc.Dial(ctx, p.o.connect, o)
}
