// Joining a session that runs.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/sessions"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// joinOptions are the values of the flags of sdm join.
type joinOptions struct {
	options
	relay bool // connect our standard streams to the session: we are the remote end of a join from another host
}

// joinWait bounds how long a session may take to answer.
const joinWait = 10 * time.Second

// flags returns the flags of sdm join.
func (o *joinOptions) flags() *flagSet {
	f := newFlags("join", usageJoin)
	f.SetInterspersed(true)
	f.add("Commands and answers", o.console.declare)
	f.add("Sessions on other hosts", func(f *pflag.FlagSet) {
		f.StringVar(&o.job.Servers.RemoteShell, "remote-shell", "", "`command` used instead of ssh to reach them")
		f.BoolVar(&o.relay, "relay", false, "connect standard input and output to the session")
	})
	f.hide("relay") // for sdm itself
	f.add("Log", o.job.Servers.LogFlags.Declare)
	return f
}

// plan checks the options: sdm join runs the console over a session that another invocation has started.
func (o *joinOptions) plan(a *app, f *flagSet) (*plan, error) {
	p := &plan{options: &o.options}
	p.serve = func(l *lifetime) console.Status {
		if o.relay {
			return a.relay(l.ctx, f.Args())
		}
		c, report, err := enter(l.ctx, o, f.Args(), introduction(doorConsole))
		if err != nil {
			return a.failed(err, console.StatusNotStarted)
		}
		status, _ := a.accompany(l, p, c, report, true)
		return status
	}
	return p, o.check(f.Args())
}

// check checks the options.
func (o *joinOptions) check(args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%q: one session at a time", args[1])
	}
	for _, c := range append(o.console.choices(), o.logLevels()) {
		if err := c.check(); err != nil {
			return err
		}
	}
	if o.console.wait < 0 || o.console.timeout < 0 {
		return errors.New("--wait and --timeout cannot be negative (0 is no limit)")
	}
	return o.console.checkBatch()
}

// find returns the session that the arguments name.
func find(ctx context.Context, args []string) (sessions.Found, error) {
	id := ""
	if len(args) > 0 {
		id = args[0]
	}
	return sessions.Find(ctx, id)
}

// relay connects our standard streams to a session of this host.
func (a *app) relay(ctx context.Context, args []string) console.Status {
	found, err := find(ctx, args)
	if err == nil {
		err = rpc.Relay(ctx, found.State.Addr(), rpc.Options{Wait: joinWait}, a.stdin, a.stdout)
	}
	if err != nil {
		return a.fail(statusOf(err, console.StatusNotStarted), err)
	}
	return console.StatusGood
}

// enter finds the session and joins it as a front end.
func enter(ctx context.Context, o *joinOptions, args []string,
	front *protocol.FrontEnd) (c *rpc.Client, all rank.Set, err error) {
	found, err := find(ctx, args)
	if err != nil {
		return nil, all, err
	}
	if found.Liveness == sessions.Elsewhere {
		front.Host = servers.HostName()
		c, err = dialElsewhere(o, found.State)
	} else {
		c, err = rpc.Join(ctx, found.State.Addr(), rpc.Options{Wait: joinWait})
	}
	if err != nil {
		return nil, all, fmt.Errorf("%s: %w", found.State.ID, err)
	}
	within, cancel := context.WithTimeout(ctx, joinWait)
	defer cancel()
	report, err := c.Initialize(within, rpc.Setup{Front: front})
	if err != nil {
		c.Cut()
		return nil, all, fmt.Errorf("%s: %w", found.State.ID, err)
	}
	return c, report.Ranks, nil
}

// dialElsewhere connects to a session of another host by a remote shell, which runs sdm join --relay there.
func dialElsewhere(o *joinOptions, s sessions.State) (*rpc.Client, error) {
	h, err := startOn(o.job.Servers.Shell(), s.Host, []string{"join", "--relay", s.ID}, func(shell *exec.Cmd) {
		shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the console
		shell.Stderr = os.Stderr                                // why it does not work is for the user
	})
	if err != nil {
		return nil, err
	}
	return rpc.Over(remote{h}), nil
}

// remote is the connection through a remote shell, which ends with it.
type remote struct{ *holder }

// Close ends the remote shell.
func (r remote) Close() error {
	r.holder.Close()
	r.signal(syscall.SIGKILL)
	<-r.ended
	return nil
}
