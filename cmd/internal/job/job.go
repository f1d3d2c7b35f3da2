// Package job starts parallel jobs, or finds those that run, and brings their ranks under the
// control of servers.
package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch/local"
	"sdm/launch/pmix"
	"sdm/master/frontend/console"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Spec says which job is started or found, and how.
type Spec struct {
	Servers servers.Spec
	Ranks   rank.Set // those that are started on this host, or have core files, for Run
	Only    string   // ranks of a starter's job to control; "": all

	// For Start:
	Argv         []string      // the starter and its arguments, or a shell that calls it
	Front        []string      // what starts the starter, with its arguments (timeout 100); nil: nothing
	TriesMPIR    bool          // MPIR is tried before servers in the slots
	NeedsMPIR    string        // flag that permits nothing but MPIR; "": none
	NeedsPMIx    bool          // the starter's PMIx server holds the ranks
	PMIxSpawn    bool          // with NeedsPMIx: libpmix starts the starter
	StarterArgs  string        // template of arguments that start our servers; "": none
	StopAt       string        // where ranks stop first that the starter holds at their first instruction; "entry": there
	QueueWait    time.Duration // limit until the ranks are held, or of the queue; 0: none
	StdinFile    string        // what the starter reads; "": our standard input
	ChangesRanks bool          // their environment or directory differs from what the starter gives

	WhenStarted bool // for Attach: a job that is in a queue is waited for

	PMIxLog bool // PMIx servers write what the session does to the log of the system
	Force   bool // a PMIx server is used even if it is known to end when a tool connects
}

// IO is what a job uses of our process.
type IO struct {
	In, Out, Err *os.File                  // standard streams
	Remark       func(string)              // shows a message to the user
	JSON         io.Writer                 // receives events; nil: text is shown
	Progress     io.Writer                 // shows progress; nil: there is no terminal
	Terminal     func() (*Terminal, error) // called before a starter runs under control
	Log          *slog.Logger
	Clock        *servers.Clock // limits the start
}

// Terminal says how a starter shares the standard streams with the console.
type Terminal struct {
	Out, Err io.Writer // show what a starter writes above the prompt; nil: there is no prompt
	Input    bool      // the starter reads standard input
	Leave    func()    // releases the streams: there will be no session
}

// Job is a job whose ranks have servers. The tree over these is built.
type Job struct {
	Session session.Session
	Ranks   rank.Set      // all ranks
	Lost    rank.Set      // those that have no server
	Here    int           // the process of one of them on this host; 0: none is known
	First   *session.Call // first call of the session; nil: a launch

	// Started is to be called when First is complete; nil: it need not be.
	Started func()
	// Over is to be called after the last command; nil: it need not be.
	Over func(states *session.States, killed rank.Set)

	end func(ctx context.Context, status console.Status) (console.Status, error)
}

// End ends the job after its session is closed. status is the status of the session. End may wait
// for the end of the starter, whose status may replace it. The error is the cause of ctx, if that
// has ended the wait.
func (j *Job) End(ctx context.Context, status console.Status) (console.Status, error) {
	if j.end == nil {
		return status, nil
	}
	return j.end(ctx, status)
}

// AtEnd has a function called when the job has ended, with its status, which it may replace.
func (j *Job) AtEnd(last func(status console.Status) console.Status) {
	end := j.end
	j.end = func(ctx context.Context, status console.Status) (console.Status, error) {
		var err error
		if end != nil {
			status, err = end(ctx, status)
		}
		return last(status), err
	}
}

// Error is the reason why there is no job.
type Error struct {
	Status console.Status // of our process
	Err    error          // the reason
}

// Error returns the text of the reason.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// failed returns an error with a status. The status of an error that has one stays.
func failed(status console.Status, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	return &Error{status, err}
}

// NotBuilt returns the error that the tree could not be built. trouble is the last messages of the
// servers; nil: none. If ctx has ended, its cause takes the place of err.
func NotBuilt(ctx context.Context, err, trouble error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	return failed(console.StatusNoTree, servers.WithTrouble(err, trouble))
}

// notStarted returns the error that no rank was started or found.
func notStarted(format string, args ...any) error {
	return failed(console.StatusNotStarted, fmt.Errorf(format, args...))
}

// misused returns the error that arguments or files of the user are wrong.
func misused(format string, args ...any) error {
	return &Error{console.StatusUsage, fmt.Errorf(format, args...)}
}

// builder returns a builder of servers for the job.
func (s *Spec) builder(io IO) *servers.Builder {
	return &servers.Builder{
		Spec: s.Servers, Clock: io.Clock, Log: io.Log, Stderr: io.Err, Remark: io.Remark, Progress: io.Progress,
	}
}

// Run starts servers on this host, which start the ranks, or open core files, when the session
// tells them to.
func Run(ctx context.Context, s Spec, io IO) (*Job, error) {
	b := s.builder(io)
	l, err := b.StartLocal(b.Count(s.Ranks.Len()))
	if err != nil {
		return nil, failed(console.StatusNoTree, err)
	}
	report, err := l.Build(ctx, slices.Collect(s.Ranks.All()))
	if err != nil {
		return nil, NotBuilt(ctx, err, l.Close())
	}
	return &Job{Session: l.Master, Ranks: report.Ranks,
		end: func(_ context.Context, status console.Status) (console.Status, error) {
			if err := l.Close(); errors.Is(err, local.ErrHung) {
				io.Remark(err.Error()) // the status comes from the ranks
			} else if err != nil {
				io.Log.Warn("a server has ended badly", "err", err)
			}
			return status, nil
		}}, nil
}

// attached returns a job whose ranks are in a table and have a tree. Its end closes the tree.
func attached(t *servers.Tree, table protocol.Proctable, io IO) *Job {
	j := &Job{Session: t.Session, Ranks: t.Ranks, First: attaching(table)}
	for _, p := range table {
		if p.Host == servers.HostName() {
			j.Here = p.PID
			break
		}
	}
	for _, one := range t.Absent {
		j.Lost = j.Lost.Union(one.Ranks)
	}
	j.end = func(_ context.Context, status console.Status) (console.Status, error) {
		for _, one := range session.ByCause(t.Absent) {
			io.Remark(fmt.Sprintf("%s on %s had no part in it: %s", servers.Named(one.Ranks), strings.Join(one.Hosts, ", "), one.Cause))
		}
		t.Close()
		return status, nil
	}
	return j
}

// attaching returns the call that attaches to the ranks of a table.
func attaching(table protocol.Proctable) *session.Call {
	return &session.Call{Command: "attach", Args: protocol.Args{Pids: table.Pids()}}
}

// checkTasks tells the servers the program of each rank of a table, so that they can check its
// process id. The ranks are tasks of a step of Slurm.
func (j *Job) checkTasks(table protocol.Proctable) {
	for i, p := range table { // in the same order
		if p.Program != "" {
			j.First.Args.Pids[i].Task = filepath.Base(p.Program)
		}
	}
}

// awaited returns the ranks of Only before the ranks of the job are known; nil: all.
func (s *Spec) awaited() (*rank.Set, error) {
	if s.Only == "" {
		return nil, nil
	}
	set, err := rank.Parse(s.Only, rank.Env{All: rank.Range(0, rank.MaxID)})
	if err != nil {
		return nil, misused("--ranks: %w", err)
	}
	return &set, nil
}

// CheckRanks returns what is wrong with Only.
func (s *Spec) CheckRanks() error {
	_, err := s.awaited()
	return err
}

// chosen returns the rows of the ranks of Only.
func (s *Spec) chosen(table protocol.Proctable) (protocol.Proctable, error) {
	if s.Only == "" {
		return table, nil
	}
	if _, err := s.awaited(); err != nil {
		return nil, err
	}
	set, err := rank.Parse(s.Only, rank.Env{All: table.Ranks()})
	if err != nil {
		return nil, fmt.Errorf("--ranks: %w", err)
	}
	if beyond := set.Minus(table.Ranks()); !beyond.IsEmpty() || set.IsEmpty() {
		return nil, fmt.Errorf("--ranks %s: the job has %s", s.Only, table.Ranks())
	}
	return table.Only(set), nil
}

// report shows the state of a starter's job, as text or as an event.
func (io *IO) report(j protocol.JobState) {
	if io.JSON != nil {
		e := session.NewEvent(protocol.Group{Kind: protocol.KindJob, Body: canonical.JSON(j)})
		io.JSON.Write(append(e.AppendJSON(nil), '\n'))
		return
	}
	if j.State != "queued" && j.State != "cancelled" {
		return
	}
	text := "job " + j.Job
	if j.State == "cancelled" {
		text += " was cancelled"
	} else {
		text += " waits in the queue"
	}
	if j.Text != "" {
		text += ": " + j.Text
	}
	if j.State == "queued" {
		text += "; Ctrl-C cancels it"
	}
	io.Remark(text)
}

// notice shows an event of a PMIx server.
func (io *IO) notice(n pmix.Notice) {
	if io.JSON == nil {
		io.Remark("PMIx: " + n.String())
		return
	}
	io.report(protocol.JobState{State: "event", Job: n.Job, Text: n.String()})
}

// reportEnd shows the exit status of a starter, after the end of its ranks.
func (io *IO) reportEnd(status int) {
	io.report(protocol.JobState{State: "ended", Status: &status, Text: "the starter has ended"})
}
