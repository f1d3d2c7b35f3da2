// A starter that runs as without sdm, while its ranks are watched.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/sentinel"
	"sdm/master/session"
	"sdm/protocol/rank"
)

const (
	// firstLook and lastLook bound the time between two searches for the ranks.
	firstLook = 50 * time.Millisecond
	lastLook  = 10 * time.Second
	// longestQuiet is how long the ranks that were found must be the same: a rank may be a shell at first.
	longestQuiet = 2 * time.Second
	// lastEvents is how long events about the ends of ranks may come after the end of the starter.
	lastEvents = time.Second
	// leastPatience is how long after the start the user is told that no ranks have been found.
	leastPatience = 10 * time.Second
)

// child is a starter.
//
// Goroutines: one waits for its end, and one passes signals on; both end when it has ended. until starts one for each
// context, which ends with it.
type child struct {
	cmd    *exec.Cmd
	done   chan struct{} // closed when it has ended
	status int           // of the end, as a shell gives it
	asked  atomic.Bool   // a signal that ends it was sent
	ranks  []*os.Process // ranks on this host
}

// passed are the signals that are passed on to the starter.
var passed = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGXCPU, syscall.SIGPWR, syscall.SIGWINCH}

// harmless are the signals that do not ask a starter to end.
var harmless = []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH}

// startChild starts the line with our standard streams, in our process group.
func (a *app) startChild(line []string) (*child, error) {
	c := &child{cmd: exec.Command(line[0], line[1:]...), done: make(chan struct{})}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = a.stdin, a.stdout, a.stderr
	signals := make(chan os.Signal, 16)
	startup.Notify(signals, passed...)
	if err := c.cmd.Start(); err != nil {
		signal.Stop(signals)
		return nil, err
	}
	go func() {
		c.wait()
		close(c.done)
	}()
	go func() {
		defer signal.Stop(signals)
		for {
			select {
			case s := <-signals:
				c.pass(s.(syscall.Signal))
			case <-c.done:
				return
			}
		}
	}()
	return c, nil
}

func (c *child) wait() {
	var ended *exec.ExitError
	err := c.cmd.Wait()
	switch status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); {
	case err != nil && !errors.As(err, &ended), !ok:
		c.status = int(console.StatusRankFailed)
	case status.Signaled():
		c.status = 128 + int(status.Signal())
	default:
		c.status = status.ExitStatus()
	}
}

// pass passes a signal on. What a terminal sends to the processes in its foreground, the starter has got already.
func (c *child) pass(s syscall.Signal) {
	if !slices.Contains(harmless, s) {
		c.asked.Store(true)
	}
	if slices.Contains([]syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGWINCH}, s) &&
		inForeground() {
		return
	}
	_ = c.cmd.Process.Signal(s) // an error means that it has ended
}

// inForeground reports whether our process group is that in the foreground of a terminal.
func inForeground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// hasEnded reports whether the starter has ended.
func (c *child) hasEnded() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// sleep waits for a time or the end of the starter.
func (c *child) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.done:
	}
}

// until returns a context that ends a time after the starter, or when it is cancelled.
func (c *child) until(after time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with ctx
		select {
		case <-c.done:
		case <-ctx.Done():
			return
		}
		t := time.NewTimer(after)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// end ends the job: the starter gets SIGTERM, and if that does not help, it and the ranks on this host are killed.
func (c *child) end() {
	c.asked.Store(true)
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	if c.sleep(killWait); c.hasEnded() {
		return
	}
	_ = c.cmd.Process.Kill()
	for _, p := range c.ranks {
		_ = p.Kill()
	}
}

// starter executes sdm watch -- STARTER: it starts the line as the shell would, and watches its ranks.
func (w *watch) starter() console.Status {
	w.out = openOutputs(os.Getpid())
	defer w.out.close()
	c, err := w.app.startChild(w.o.line)
	if err != nil {
		why := plainError(err)
		if errors.Is(err, exec.ErrNotFound) {
			why = "no such program (is its module loaded? give its path)"
		}
		return w.app.fail(console.StatusNotStarted, fmt.Errorf("%s: %s", w.o.line[0], why))
	}
	if slices.Contains(w.o.onStall, stallKill) {
		w.kill = c.end
	}
	found := w.follow(c)
	<-c.done
	return w.judge(context.Background(), found, sentinel.End{Status: c.status, Asked: c.asked.Load(), Tail: w.out.tail()})
}

// follow looks for the ranks of a starter and watches them, until the starter has ended. It returns what was seen last.
func (w *watch) follow(c *child) *sentinel.Result {
	quiet := max(min(longestQuiet, w.o.stall/4), firstLook)
	s := job.Started{Spec: w.o.spec(), PID: c.cmd.Process.Pid, Quiet: quiet}
	patience := time.Now().Add(max(w.o.stall, leastPatience))
	found, watched := &sentinel.Result{States: session.NewStates(rank.Set{})}, false
	var trouble error
	for pause := firstLook; !c.hasEnded(); pause = min(pause*3/2, lastLook) {
		c.sleep(pause)
		target, pids := s.Target(time.Now())
		if target != "" && !c.hasEnded() {
			var result *sentinel.Result
			if result, trouble = w.once(c, target, pids, s.Current(pids)); result != nil {
				found, watched, pause = result, true, time.Second
			}
			if trouble != nil {
				w.plan.log.Info("the ranks cannot be watched", "target", target, "err", trouble)
			}
		}
		if !watched && !patience.IsZero() && time.Now().After(patience) && !c.hasEnded() {
			patience = time.Time{}
			w.tellUnknown(trouble)
		}
	}
	return found
}

// tellUnknown tells the user that the ranks are not watched.
func (w *watch) tellUnknown(trouble error) {
	if trouble == nil {
		trouble = errors.New("none was found on this host, and the starter has listed none (sdm watch PID of the starter, in another process, finds those on other hosts)")
	}
	w.unknown = true
	w.app.remark(fmt.Sprintf("watch: the ranks are not watched yet: %v", trouble))
}

// once watches the ranks of a target until they have ended, or the starter. The result is nil if they could not be
// watched. current reports whether the processes are still the ranks.
func (w *watch) once(c *child, target string, pids []int, current func() bool) (*sentinel.Result, error) {
	ctx, cancel := c.until(0)
	defer cancel()
	whole := w.plan.clock
	w.plan.clock = servers.NewClock(w.o.job.Servers.ConnectWait)
	defer func() {
		w.plan.clock.Stop()
		w.plan.clock = whole
	}()
	j, err := job.Attach(ctx, w.o.spec(), w.io(), target)
	if err != nil {
		return nil, err
	}
	c.ranks = nil
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			c.ranks = append(c.ranks, p)
		}
	}
	late, stop := c.until(lastEvents)
	defer stop()
	w.target = target
	if w.unknown {
		w.unknown = false
		w.app.remark(fmt.Sprintf("watch: the ranks are watched now: %s", j.Ranks))
	}
	cfg := w.config(j)
	cfg.Current = current
	found, err := sentinel.Run(late, cfg)
	w.end(late, j)
	if errors.Is(err, sentinel.ErrNoRank) {
		return nil, err
	}
	return found, nil
}
