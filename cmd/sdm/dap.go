// sdm dap: an editor in place of the console.

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/master/dial"
	"sdm/master/frontend/console"
	"sdm/master/frontend/dap"
	"sdm/master/frontend/rpc"
	"sdm/master/hangfile/offline"
	"sdm/master/peer"
	"sdm/master/session"
	"sdm/protocol"
)

// dapOptions are the values of the flags of sdm dap.
type dapOptions struct {
	options
	listen string // "unix:PATH" or "[HOST:]PORT"; "": the editor is at standard input and output
}

// flags returns the flags of sdm dap.
func (o *dapOptions) flags() *flagSet {
	f := newFlags("dap", usageDAP)
	f.SetInterspersed(true)
	f.foot = "" // the ranks are the business of launch and attach
	f.add("Connection", func(f *pflag.FlagSet) {
		f.StringVar(&o.listen, "listen", "", "wait for editors at unix:PATH or `[HOST:]PORT` of this host, each with a session of its own, until interrupted")
	})
	f.add("Log", o.job.Servers.LogFlags.Declare)
	return f
}

// plan checks the options: the editor at standard input and output drives a session.
func (o *dapOptions) plan(a *app, f *flagSet) (*plan, error) {
	p := &plan{options: &o.options}
	p.serve = func(l *lifetime) console.Status {
		if o.listen != "" {
			return a.awaitEditors(l.ctx, p, o.listen)
		}
		return a.serveEditor(l.ctx, p, newStreams(a.stdin, a.stdout))
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("%q: what is debugged is said by the editor, in launch or attach", f.Arg(0))
	}
	return p, o.logLevels().check()
}

// serveEditor serves an editor at the other end of a connection.
func (a *app) serveEditor(ctx context.Context, p *plan, conn io.ReadWriteCloser) console.Status {
	err := dap.Serve(ctx, conn, dap.Config{
		Start:   func(ctx context.Context, s dap.Start) (*dap.Target, error) { return a.target(ctx, s) },
		Console: typed,
		Program: self(),
		Log:     p.log,
	})
	switch {
	case err == nil:
		return console.StatusGood
	case errors.Is(err, dap.ErrGone):
		p.log.Debug("the editor is gone")
		return console.StatusGood
	}
	return a.fail(statusOf(err, console.StatusRankFailed), err)
}

// self is the path of this program.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return "sdm"
	}
	return path
}

// listenWithin listens at a Unix socket, which only its user can reach, or at a port of this host, for a protocol that
// has no way to prove who one is, so that no other user may be let in. instead is how one reaches it from other hosts.
func listenWithin(addr, instead string) (net.Listener, error) {
	if network, _ := dial.Split(addr); network == "unix" {
		return dial.Listen(addr)
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		host, port = "", addr
	}
	if ip := net.ParseIP(cmp.Or(host, "127.0.0.1")); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s is not an address within this host: from others, %s", host, instead)
	}
	return dial.Listen(net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
}

// awaitEditors serves editors that connect, each in a goroutine; all have ended when it returns.
func (a *app) awaitEditors(ctx context.Context, p *plan, addr string) console.Status {
	l, err := listenWithin(addr, "ssh -T HOST sdm dap")
	if err != nil {
		return a.fail(console.StatusUsage, fmt.Errorf("--listen: %w", err))
	}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	a.remark("listening at " + l.Addr().String())
	var editors sync.WaitGroup
	defer editors.Wait()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return statusOf(context.Cause(ctx), console.StatusGood)
		case err != nil:
			return a.fail(console.StatusUsage, fmt.Errorf("--listen: %w", err))
		}
		if err := peer.OfThisUser(conn); err != nil {
			a.remark("refused: " + err.Error())
			conn.Close()
			continue
		}
		editors.Go(func() { a.serveEditor(ctx, p, conn) })
	}
}

// typed runs a console whose lines come from the editor.
func typed(ctx context.Context, t dap.Typed) error {
	_, err := console.Run(ctx, console.Config{
		Session: t.Session, All: t.Ranks, Out: t.Out, Err: t.Out, AnswersOnly: true, Past: t.Past,
		Lines: t.Lines, Interactive: true, Interrupts: t.Lines.Interrupts(), Welcome: t.Welcome, Guest: t.Joined,
		AtEnd: console.AtEnd(t.AtEnd),
	})
	if errors.Is(err, console.ErrLeft) {
		return dap.ErrLeft
	}
	return err
}

// target starts, finds or opens what the editor asks for.
func (a *app) target(ctx context.Context, s dap.Start) (*dap.Target, error) {
	switch s.Way {
	case dap.HangFile:
		file, err := readHangFile(ctx, atFolder(s.Cwd, s.Line[0]))
		if err != nil {
			return nil, err
		}
		t := &dap.Target{Session: offline.New(file), Ranks: file.Ranks, Past: true, Snapshot: len(file.States),
			Program: filepath.Base(s.Line[0])}
		for _, v := range file.Values {
			t.Kept = append(t.Kept, dap.Kept{Line: v.Line, Call: session.Call{Command: v.Command, Args: v.Args}})
		}
		return t, nil
	case dap.Join:
		return a.joined(ctx, s)
	}
	return a.led(ctx, s)
}

// atFolder returns a path that may be relative to a folder.
func atFolder(folder, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}

// joined joins a session.
func (a *app) joined(ctx context.Context, s dap.Start) (*dap.Target, error) {
	o := &joinOptions{options: newOptions(a.env)}
	f := o.flags()
	if err := f.parse(s.Flags, a.env); err != nil {
		return nil, err
	}
	var args []string
	if s.Line[0] != "" {
		args = s.Line
	}
	c, all, err := enter(ctx, o, args, introduction(doorDAP))
	if err != nil {
		return nil, err
	}
	w := c.Welcome()
	return &dap.Target{Session: c, Ranks: all, Joined: true, Snapshot: w.Snapshot, Program: w.Session}, nil
}

// arguments returns the command line that does what the editor asks for.
func arguments(s dap.Start) []string {
	args := append([]string{string(s.Way)}, s.Flags...)
	if s.NP > 0 {
		args = append(args, "-n", strconv.Itoa(s.NP))
	}
	if s.StopAt != "" {
		args = append(args, "--stop-at", s.StopAt)
	}
	switch s.Way {
	case dap.Run:
		args = append(args, "--")
	case dap.Simulate:
		return args
	}
	return append(args, s.Line...)
}

// led starts the process of a session.
func (a *app) led(ctx context.Context, s dap.Start) (*dap.Target, error) {
	h, c, report, err := a.ledBy(ctx, doorDAP, arguments(s), s.Env, s.Cwd, s.Told)
	if err != nil {
		return nil, err
	}
	w := c.Welcome()
	return &dap.Target{Session: c, Ranks: report.Ranks, First: w.Start, Snapshot: w.Snapshot,
		Program: strings.Join(s.Line, " "), End: h.end}, nil
}

// ledBy starts the process of a session with some arguments, a changed environment and a folder, and is its first front
// end. What it says meanwhile is told, a line at a time (nil: it is not); when it fails it is the error.
func (a *app) ledBy(ctx context.Context, door string, args []string, changed map[string]*string,
	folder string, told func(line string)) (h *editorHolder, c *rpc.Client, report session.Report, err error) {
	env, err := launch.Environ(a.env, directives(changed))
	if err != nil {
		return nil, nil, report, err
	}
	said, words, err := os.Pipe()
	if err != nil {
		return nil, nil, report, err
	}
	started, err := startHolder(args, func(p *exec.Cmd) {
		p.Stdout, p.Stderr, p.Env, p.Dir = words, words, env, folder
	})
	words.Close()
	if err != nil {
		said.Close()
		return nil, nil, report, fmt.Errorf("the process of the session: %w", err)
	}
	h = &editorHolder{holder: started, said: said, told: told}
	h.reading.Go(h.read)
	stop := context.AfterFunc(ctx, func() { h.signal(syscall.SIGTERM) })
	defer stop()
	c = rpc.Over(h)
	report, err = c.Initialize(ctx, rpc.Setup{Front: introduction(door)})
	if err != nil {
		c.Cut()
		return nil, nil, report, h.why(err)
	}
	return h, c, report, nil
}

// directives returns the changes of an environment.
func directives(env map[string]*string) []protocol.EnvDirective {
	var all []protocol.EnvDirective
	for name, value := range env {
		if value == nil {
			all = append(all, protocol.EnvDirective{Op: "unset", Name: name})
		} else {
			all = append(all, protocol.EnvDirective{Op: "set", Name: name, Value: *value})
		}
	}
	slices.SortFunc(all, func(x, y protocol.EnvDirective) int { return cmp.Compare(x.Name, y.Name) })
	return all
}

// editorHolder is the process of a session that an editor has asked for.
//
// Goroutine: one reads what it says, and ends with it.
type editorHolder struct {
	*holder
	said    *os.File
	reading sync.WaitGroup
	text    bytes.Buffer // after reading
	told    func(line string)
}

// maxSaid bounds what is kept of what a process says, in bytes.
const maxSaid = 16 << 10

// read reads what the process says.
func (h *editorHolder) read() {
	b := make([]byte, 4096)
	for {
		n, err := h.said.Read(b)
		if h.text.Len() < maxSaid {
			h.text.Write(b[:n])
		}
		if n > 0 && h.told != nil { // a piece is the last line in it: more is not shown at once
			lines := strings.Split(strings.TrimSpace(string(b[:n])), "\n")
			h.told(cleanLines(strings.TrimPrefix(lines[len(lines)-1], "sdm: ")))
		}
		if err != nil {
			return
		}
	}
}

// why returns why there is no session.
func (h *editorHolder) why(err error) error {
	<-h.ended
	h.said.SetReadDeadline(time.Now().Add(time.Second)) // a child may have the other end
	h.reading.Wait()
	h.said.Close()
	var lines []string
	for _, line := range strings.Split(strings.TrimSpace(h.text.String()), "\n") {
		lines = append(lines, cleanLines(strings.TrimPrefix(line, "sdm: ")))
	}
	if said := strings.Join(lines, "\n"); said != "" {
		return errors.New(said)
	}
	return err
}

// end waits for the process, unless the session goes on.
func (h *editorHolder) end(left bool) {
	if !left {
		ctx, cancel := servers.Closing()
		defer cancel()
		select {
		case <-h.ended:
		case <-ctx.Done():
		}
	}
	h.said.Close()
}

// streams are an input and an output as one connection.
type streams struct {
	*io.PipeReader
	out    io.Writer
	once   sync.Once
	closed chan struct{}
}

// newStreams connects an input and an output. Close ends a Read and a Write; one of the streams itself that cannot be
// interrupted lasts, with its goroutine, until the process ends.
func newStreams(in io.Reader, out io.Writer) io.ReadWriteCloser {
	return &streams{PipeReader: dial.Interruptible(in), out: out, closed: make(chan struct{})}
}

// Write writes to the output, and returns when that has taken everything.
func (s *streams) Write(b []byte) (n int, err error) {
	written := make(chan struct{})
	var taken int
	var failed error
	go func() {
		defer close(written)
		taken, failed = s.out.Write(b)
	}()
	select {
	case <-written:
		return taken, failed
	case <-s.closed:
		return 0, io.ErrClosedPipe
	}
}

// Close ends both.
func (s *streams) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.PipeReader.Close()
}
