// sdm mcp: an agent in place of the console.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"sdm/cmd/internal/job"
	"sdm/cmd/internal/servers"
	"sdm/cmd/internal/sessions"
	"sdm/cmd/internal/startup"
	"sdm/master/frontend/console"
	"sdm/master/frontend/mcp"
	"sdm/master/frontend/rpc"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/digest"
)

// mcpOptions are the values of the flags of sdm mcp.
type mcpOptions struct {
	options
	allow       string
	keep        time.Duration
	printConfig bool
}

// flags returns the flags of sdm mcp.
func (o *mcpOptions) flags() *flagSet {
	f := newFlags("mcp", usageMCP)
	f.foot = "" // the ranks are the business of the tools
	f.add("What the agent may do", func(f *pflag.FlagSet) {
		f.StringVar(&o.allow, "allow", "steer", "look: only look; steer: also start, attach, resume, set breakpoints and end what it has started; change: also change the program, and any line for gdb")
		f.BoolVar(&o.printConfig, "print-config", false, "print what to write into the settings of usual clients, and end")
	})
	f.add("Sessions", func(f *pflag.FlagSet) {
		f.Var(newDuration(&o.keep, agentKeep), "keep", "how long a session that it has started goes on without a front end")
	})
	f.add("Log", o.job.Servers.LogFlags.Declare)
	return f
}

// plan checks the options: the client at standard input and output drives sessions.
func (o *mcpOptions) plan(a *app, f *flagSet) (*plan, error) {
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q: what is debugged is said by the agent, with its tools", f.Arg(0))
	}
	words := []string{protocol.Look.String(), protocol.Steer.String(), protocol.Change.String()}
	if err := errors.Join(choice{"--allow", o.allow, words}.check(), o.logLevels().check()); err != nil {
		return nil, err
	}
	allow, _ := protocol.ParsePermission(o.allow) // it is one of words
	p := &plan{options: &o.options}
	p.serve = func(l *lifetime) console.Status { return a.serveAgent(l.ctx, p, allow, o.keep) }
	if o.printConfig {
		p.alone = func() console.Status { return a.printConfig(o.allow) }
	}
	return p, nil
}

// printConfig writes the settings of clients.
func (a *app) printConfig(allow string) console.Status {
	self, err := os.Executable()
	if err != nil {
		self = "sdm"
	}
	type server struct {
		Type    string   `json:"type,omitempty"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	s := server{Command: self, Args: []string{"mcp", "--allow", allow}}
	most := canonical.JSON(map[string]any{"mcpServers": map[string]server{"sdm": s}})
	s.Type = "stdio"
	some := canonical.JSON(map[string]any{"servers": map[string]server{"sdm": s}})
	fmt.Fprintf(a.out, "Clients with a file of \"mcpServers\" (.mcp.json in a project, and most others):\n%s\n\n"+
		"VS Code (.vscode/mcp.json):\n%s\n\nOn a login node, from elsewhere: command \"ssh\", args [\"-T\", \"HOST\", \"%s\", \"mcp\"]\n",
		most, some, self)
	return console.StatusGood
}

// serveAgent serves the client at standard input and output.
func (a *app) serveAgent(ctx context.Context, p *plan, allow protocol.Permission, keep time.Duration) console.Status {
	out, err := a.takeOutput()
	if err != nil {
		return a.fail(console.StatusNotStarted, err)
	}
	conn := newStreams(a.stdin, out)
	defer conn.Close()
	err = mcp.Serve(ctx, conn, conn, mcp.Config{
		Version: startup.Build(), Allow: allow, Start: a.startForAgent(keep), Begun: a.begunForAgent,
		IsID: sessions.IsID, Join: a.joinForAgent,
		Why: a.whyForAgent, Sessions: sessionsForAgent, Log: p.log,
	})
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		p.log.Debug("the client is gone", "err", err)
	}
	return statusOf(context.Cause(ctx), console.StatusGood)
}

// takeOutput returns standard output for the protocol, and lets everything else that is written there go to standard
// error: what is not of the protocol would end the connection.
func (a *app) takeOutput() (io.Writer, error) {
	fd, err := unix.FcntlInt(a.stdout.Fd(), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	if err := unix.Dup3(int(a.stderr.Fd()), int(a.stdout.Fd()), 0); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "client"), nil
}

// How long sessions of agents go on without anybody in them, and how long attached ranks may stand then.
const (
	agentKeep         = 15 * time.Minute
	agentKeepStanding = 2 * time.Minute
)

// agentArguments returns the command line that does what an agent asks for.
func agentArguments(s mcp.Start, keep time.Duration) []string {
	args := []string{"--keep", keep.String(), "--keep-standing", agentKeepStanding.String()}
	if s.Ranks != "" {
		args = append(args, "--ranks", s.Ranks)
	}
	switch {
	case s.Attach != "":
		return append(append([]string{"attach"}, args...), "--", s.Attach)
	case len(s.Core) > 0:
		return append(append([]string{"core"}, args...), s.Core...)
	}
	if s.NP > 0 {
		args = append(args, "-n", strconv.Itoa(s.NP))
	}
	if s.StopAt != "" {
		args = append(args, "--stop-at", s.StopAt)
	}
	return append(append(append([]string{"run"}, args...), "--"), s.Run...)
}

// startForAgent returns what starts the process of a session that is kept for a time.
func (a *app) startForAgent(keep time.Duration) func(context.Context, mcp.Start) (*mcp.Target, error) {
	return func(ctx context.Context, s mcp.Start) (*mcp.Target, error) {
		env := map[string]*string{}
		for name, value := range s.Env {
			env[name] = &value
		}
		args := append([]string{intentWord + intentHere(s.Intent)}, agentArguments(s, keep)...)
		h, c, report, err := a.ledBy(ctx, doorMCP, args, env, s.Cwd, nil)
		if err != nil {
			return nil, err
		}
		t := agentTarget(c)
		t.Ranks = report.Ranks
		leave := t.Leave
		t.Leave = func(cursor uint64) { leave(cursor); h.said.Close() }
		return t, nil
	}
}

// intentHere returns an intent of the agents of this folder: ids are short words, and agents elsewhere take the same.
func intentHere(intent string) string {
	folder, _ := os.Getwd()
	return digest.Text(digest.OfText(intent + " " + folder))
}

// begunForAgent joins the session of this host that was started for an intent.
func (a *app) begunForAgent(ctx context.Context, intent string) (*mcp.Target, error) {
	intent = intentHere(intent)
	found, _ := sessions.List(ctx) // what is passed over was not started here
	for _, f := range found {
		if f.State.Intent == intent && f.Liveness == sessions.Live {
			return a.joinForAgent(ctx, f.State.ID)
		}
	}
	return nil, nil
}

// joinForAgent joins a session.
func (a *app) joinForAgent(ctx context.Context, id string) (*mcp.Target, error) {
	o := &joinOptions{options: newOptions(a.env)}
	c, all, err := enter(ctx, o, []string{id}, introduction(doorMCP))
	if err != nil {
		return nil, err
	}
	t := agentTarget(c)
	t.Ranks = all
	return t, nil
}

// agentTarget returns a session that was joined.
func agentTarget(c *rpc.Client) *mcp.Target {
	w := c.Welcome()
	return &mcp.Target{Session: c, ID: w.Session, First: w.Start, AtEnd: w.AtEnd, Snapshot: w.Snapshot,
		Front: w.Front.Number, Leave: c.Leave}
}

// whyForAgent runs sdm why: a process of its own ends with the call, and its faults are its own.
func (a *app) whyForAgent(ctx context.Context, w mcp.Why) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	args := []string{"why", "--tools", "--samples", strconv.Itoa(w.Samples), "--every", w.Every, "--", w.Of}
	process := exec.CommandContext(ctx, self, args...)
	process.Args[0], process.Env, process.Stderr = "sdm", a.env, &said
	process.Cancel = func() error { return process.Process.Signal(syscall.SIGTERM) }
	process.WaitDelay = time.Second
	page, err := process.Output()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && len(page) == 0:
		return "", errors.New(text.Clean(strings.TrimPrefix(strings.TrimSpace(said.String()), "sdm: ")))
	}
	return string(page), nil
}

// Bounds of the list: the time in which the jobs of this host are looked for, and how many are told.
const (
	maxListTime = 2 * time.Second
	maxListJobs = 40
)

// sessionsForAgent lists the sessions, and the jobs of this host.
func sessionsForAgent(ctx context.Context) (string, error) {
	found, troubles := sessions.List(ctx)
	list := string(sessionTable(askSessions(ctx, found, askSession), time.Now()))
	for _, t := range troubles {
		list += "passed over: " + text.Clean(t.Error()) + "\n"
	}
	list += "\nyour jobs on this host, " + text.Clean(servers.HostName()) + " (of: for sdm_why; attach stops their ranks):\n"
	ctx, cancel := context.WithTimeoutCause(ctx, maxListTime, fmt.Errorf("no answer in %v", maxListTime))
	defer cancel()
	jobs, err := job.List(ctx)
	switch {
	case err != nil:
		list += text.Clean(err.Error()) + "\n"
	case len(jobs) == 0:
		list += "none\n"
	}
	for i, j := range jobs {
		if i == maxListJobs {
			list += fmt.Sprintf("and %d more\n", len(jobs)-i)
			break
		}
		list += fmt.Sprintf("%s  %s  ranks: %s\n", j.Target, text.Clean(j.Program), j.Ranks)
	}
	return list, nil
}
