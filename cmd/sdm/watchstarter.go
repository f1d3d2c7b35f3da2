// A starter that runs as without sdm, while its ranks are watched.

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/reaper"
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
// If it is to be ended at a stall, it runs below a reaper.
//
// Goroutines: one waits for its end, and one passes signals on; both end when it has ended. until starts one for each
// context, which ends with it.
type child struct {
	process *os.Process
	cmd     *exec.Cmd       // nil: it has a reaper
	below   *reaper.Command // nil: it has none
	done    chan struct{}   // closed when it has ended
	status  int             // of the end, as a shell gives it
	asked   atomic.Bool     // a signal that ends it was sent
}

// passed are the signals that are passed on to the starter.
var passed = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGXCPU, syscall.SIGPWR, syscall.SIGWINCH}

// harmless are the signals that do not ask a starter to end.
var harmless = []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGWINCH}

// startChild starts the line with our standard streams, in our process group.
func (a *app) startChild(line []string, reaped bool) (*child, error) {
	c := &child{done: make(chan struct{})}
	signals := make(chan os.Signal, 16)
	startup.Notify(signals, passed...)
	var err error
	if reaped {
		if c.below, err = reaper.Start(line, a.stdin, a.stdout, a.stderr); err == nil {
			c.process = c.below.Process
		}
	} else {
		c.cmd = exec.Command(line[0], line[1:]...)
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = a.stdin, a.stdout, a.stderr
		if err = c.cmd.Start(); err == nil {
			c.process = c.cmd.Process
		}
	}
	if err != nil {
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
	var status syscall.WaitStatus
	var known bool
	if c.below != nil {
		<-c.below.Done
		status, known = c.below.Status()
	} else {
		var ended *exec.ExitError
		err := c.cmd.Wait()
		status, known = c.cmd.ProcessState.Sys().(syscall.WaitStatus)
		known = known && (err == nil || errors.As(err, &ended))
	}
	switch {
	case !known:
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
	_ = c.process.Signal(s) // an error means that it has ended
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

// sleep waits for a time, the end of the starter, or what comes from a channel, which it returns.
func (c *child) sleep(d time.Duration, asked <-chan time.Duration) time.Duration {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.done:
	case d := <-asked:
		return d
	}
	return 0
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

// end ends the job: the starter gets SIGTERM, then all processes of its tree, and SIGKILL what is left. It says what
// has ended.
func (c *child) end() string {
	c.asked.Store(true)
	count, left, proved := c.below.End(killWait)
	switch {
	case proved:
		return fmt.Sprintf("the job is ended: %d processes, none is left on this host", count)
	case len(left) == 0:
		return "the job is ended, but the process that adopts its orphans was killed: some may be left"
	}
	texts := make([]string, 0, maxLeft)
	for _, p := range left[:min(len(left), maxLeft)] {
		texts = append(texts, p.String())
	}
	return fmt.Sprintf("the job is NOT ended: %d of %d processes are left: %s", len(left), count, strings.Join(texts, ", "))
}

// maxLeft bounds the processes in a message.
const maxLeft = 8

// release lets go what the starter has left behind.
func (c *child) release() {
	if c.below != nil {
		c.below.Release()
	}
}

// starter executes sdm watch -- STARTER: it starts the line as the shell would, and watches its ranks.
func (w *watch) starter() console.Status {
	w.out = openOutputs(os.Getpid())
	defer w.out.close()
	if err := w.listen(os.Getpid()); err != nil {
		return w.app.fail(console.StatusUsage, err)
	}
	defer w.ears.close()
	kills := slices.Contains(w.o.onStall, stallKill)
	c, err := w.app.startChild(w.o.line, kills)
	if err != nil {
		why := plainError(err)
		if errors.Is(err, exec.ErrNotFound) {
			why = "no such program (is its module loaded? give its path)"
		}
		return w.app.fail(console.StatusNotStarted, fmt.Errorf("%s: %s", w.o.line[0], why))
	}
	if kills {
		w.kill = c.end
	}
	found := w.follow(c)
	<-c.done
	c.release()
	return w.judge(context.Background(), found, sentinel.End{Status: c.status, Asked: c.asked.Load(), Tail: w.out.tail()})
}

// follow looks for the ranks of a starter and watches them, until the starter has ended. It returns what was seen last.
func (w *watch) follow(c *child) *sentinel.Result {
	quiet := max(min(longestQuiet, cmp.Or(w.o.stall, forever)/4), firstLook)
	s := job.Started{Spec: w.o.spec(), PID: c.process.Pid, Quiet: quiet, Any: true}
	patience := time.Now().Add(max(w.o.stall, leastPatience))
	found, watched := &sentinel.Result{States: session.NewStates(rank.Set{})}, false
	var trouble error
	for pause := firstLook; !c.hasEnded(); pause = min(pause*3/2, lastLook) {
		if asked := c.sleep(pause, w.ears.silent()); asked > 0 {
			if result := w.lookAt(c, &s, asked); result != nil {
				found = result
			}
			continue
		}
		target, pids := s.Target(time.Now())
		if target != "" && !c.hasEnded() {
			var result *sentinel.Result
			if result, trouble = w.once(c, target, s.Current(pids)); result != nil {
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
	w.remark(fmt.Sprintf("watch: the ranks are not watched yet: %v", trouble))
}

// once watches the ranks of a target until they have ended, or the starter. The result is nil if they could not be
// watched. current reports whether the processes are still the ranks.
func (w *watch) once(c *child, target string, current func() bool) (*sentinel.Result, error) {
	return w.with(c, target, func(cfg *sentinel.Config, _ func()) { cfg.Current = current })
}

// lookAt looks at a job that is not watched, since its output is silent.
func (w *watch) lookAt(c *child, s *job.Started, asked time.Duration) (result *sentinel.Result) {
	looked := false
	for _, target := range s.Now() {
		if looked || c.hasEnded() {
			return result
		}
		var err error
		result, err = w.with(c, target, func(cfg *sentinel.Config, end func()) {
			once := make(chan time.Duration, 1)
			once <- asked
			cfg.Asked = once
			cfg.Stalled = func(ctx context.Context, x *sentinel.Sight) {
				looked = true
				w.stalled(ctx, x)
				end()
			}
		})
		if !looked {
			w.plan.log.Info("the job cannot be looked at", "target", target, "err", err)
		}
	}
	if !looked && !c.hasEnded() {
		ctx, cancel := c.until(0)
		defer cancel()
		w.stalled(ctx, &sentinel.Sight{At: time.Now(), Asked: asked})
	}
	return result
}

// with watches the ranks of a target, as the configuration says that a function has changed. end ends that.
func (w *watch) with(c *child, target string, change func(*sentinel.Config, func())) (*sentinel.Result, error) {
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
	late, stop := c.until(lastEvents)
	defer stop()
	w.target = target
	if w.unknown {
		w.unknown = false
		w.remark(fmt.Sprintf("watch: the ranks are watched now: %s", j.Ranks))
	}
	cfg := w.config(j)
	change(&cfg, stop)
	found, err := sentinel.Run(late, cfg)
	w.end(late, j)
	if errors.Is(err, sentinel.ErrNoRank) {
		return nil, err
	}
	return found, nil
}
