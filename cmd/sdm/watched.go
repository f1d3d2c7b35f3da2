// A job that is watched, whether it ran before or was started for that.

package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/master/frontend/console"
	"sdm/master/frontend/sentinel"
	"sdm/master/hangfile"
	"sdm/master/progress"
)

// killWait is how long a starter may take to end its job before it is killed.
const killWait = 20 * time.Second

// watch is one invocation of sdm watch.
type watch struct {
	app  *app
	o    *watchOptions
	plan *plan
	out  *outputs
	ears *ears         // nil: silence is nothing
	kill func() string // ends the job and says what has ended; nil: the user does not want that
	said findings      // for the summary
	// target names the ranks that are watched, for sdm attach.
	target  string
	unknown bool // the user was told that the ranks are not watched yet
	// watchdog is what ends the job that is watched if it stands.
	watchdog launch.Watchdog
}

// config returns the configuration of the front end for a job.
func (w *watch) config(j *job.Job) sentinel.Config {
	if w.watchdog = (launch.Watchdog{}); j.Here != 0 {
		w.watchdog = launch.WatchdogOf(j.Here)
	}
	if w.watchdog.ComesFirst(w.o.stall) {
		w.app.remark(fmt.Sprintf("watch: torch's watchdog may end the job before it has stalled for %v (--stall 5m comes first)", w.o.stall))
	}
	return sentinel.Config{
		Session: j.Session, Ranks: j.Ranks, First: present(j.First, j), Started: j.Started,
		Judge: progress.Config{Stall: cmp.Or(w.o.stall, forever), Interval: w.o.interval, Value: w.o.progress != ""},
		Value: w.o.progress, Wait: w.o.console.wait, Output: w.out.size, Remark: w.remark, Log: w.plan.log,
		Asked: w.ears.silent(), Enough: w.isEnough, Stalled: w.stalled,
	}
}

// io returns what the job uses of this process. The job's output is not ours, so that only the log is told of what is
// done for it.
func (w *watch) io() job.IO {
	io := w.app.io(w.plan)
	io.Progress, io.JSON = nil, nil
	io.Remark = func(said string) { w.plan.log.Info(said) }
	if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
		io.In, io.Out, io.Err = null, null, null // closed with the process
	}
	return io
}

// end ends the session of a job, which runs on.
func (w *watch) end(ctx context.Context, j *job.Job) {
	err := servers.CloseInTime(j.Session)
	if _, e := j.End(context.WithoutCancel(ctx), console.StatusGood); err == nil {
		err = e
	}
	if err != nil {
		w.plan.log.Info("the servers", "err", err)
	}
}

// judge says how a job has ended, writes a hang file if it has crashed, and returns the exit status.
func (w *watch) judge(ctx context.Context, found *sentinel.Result, e sentinel.End) console.Status {
	status := console.Status(e.Status)
	if e.Status < 0 {
		status = statusOfRanks(found.Ends)
	}
	if reason, ok := sentinel.CauseOf(found.Ends, found.States.All(), e); ok {
		w.failed(ctx, found, reason)
		if reason.Kind == hangfile.Crash || status == console.StatusGood {
			return console.StatusRankFailed
		}
		return status
	}
	if found.Stalled || w.said.ended != "" {
		return console.Status(w.o.status)
	}
	return status
}

// statusOfRanks returns the highest exit code of ranks, as far as it is known.
func statusOfRanks(ends []sentinel.Ending) (status console.Status) {
	for _, x := range ends {
		code := x.Exit.Code
		if n := unix.SignalNum(x.Exit.Signal); n > 0 {
			code = 128 + int(n)
		}
		status = max(status, console.Status(code))
	}
	return status
}

// endProcesses ends the processes of a running job: they get SIGTERM, and SIGKILL if they have not ended after a time.
// It says so.
func endProcesses(pids []int) string {
	var all []*os.Process
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil && p.Signal(syscall.SIGTERM) == nil {
			all = append(all, p)
		}
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(killWait); len(all) > 0 && time.Now().Before(until); <-tick.C {
		all = slices.DeleteFunc(all, func(p *os.Process) bool { return p.Signal(syscall.Signal(0)) != nil })
	}
	for _, p := range all {
		_ = p.Kill()
	}
	if len(all) > 0 {
		return fmt.Sprintf("the job is ended: %d of its processes had to be killed", len(all))
	}
	return "the job is ended"
}
