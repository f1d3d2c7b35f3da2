package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// TestScripts plays testdata. "run" has two parts, separated by "==": what is typed or is in a
// script, and the tape of the session (sessiontest.ReadTape). The result is the calls that were
// made (>), the text on standard output and standard error (2>), and the exit status. Arguments:
//
//	all=SET      the ranks of the job; default 0-7
//	typed        the lines are typed at a prompt; otherwise they are a script
//	piped        the lines come from a pipe
//	launch=STOP  the session starts with a launch that stops at STOP
//	of=SET       only these ranks are launched: the others have no server
//	ndjson       the format
//	stop-on-error  ends scripts at the first command that fails
//	at-end=WORD  what happens to the remaining ranks at the end
//	stdin=TEXT   is sent to rank 0
//	timeout=D    ends the context
//	interrupted  Ctrl-C has been pressed
//	press=D      Ctrl-C is pressed every D, twice
//	progress     there is a terminal for the status line
//	shared=NAME  the session sdm-1 is shared; we are front end 1, and NAME, if given, is here, too
//	guest        the session is another's
//
// Among typed lines, "~wait D" waits, "~emit EVENT" makes the session emit an event, "~^C" is
// Ctrl-C, "~tab LINE" is Tab after LINE. Time is synctest's.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) (out string) {
			synctest.Test(t, func(t *testing.T) { out = play(t, d) })
			return out
		})
	})
}

// transcript records all output in order; both ends of a test write to it, hence the lock.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *transcript) line(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(&t.b, format+"\n", args...)
}

// under returns a writer that adds prefix to each line.
func (t *transcript) under(prefix string) io.Writer { return under{t, prefix} }

type under struct {
	t      *transcript
	prefix string
}

func (u under) Write(p []byte) (int, error) {
	for _, line := range strings.Split(strings.TrimSuffix(string(p), "\n"), "\n") {
		u.t.line("%s%s", u.prefix, line)
	}
	return len(p), nil
}

// watched is a tape that writes the calls to the transcript.
type watched struct {
	*sessiontest.Tape
	t *transcript
}

func (w watched) Do(ctx context.Context, c session.Call) (protocol.RequestID, error) {
	args := canonical.JSON(c.Args)
	wait := ""
	if c.Wait != 0 {
		wait = " wait=" + c.Wait.String()
	}
	w.t.line("> [%s] %s %s%s", c.Ranks, c.Command, args, wait)
	return w.Tape.Do(ctx, c)
}

func play(t *testing.T, d *datadriven.TestData) string {
	lines, tapeText, _ := strings.Cut(d.Input, "==\n")
	tape, err := sessiontest.ReadTape(tapeText)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	log := &transcript{}
	cfg := Config{
		Session: watched{tape, log}, All: rank.Range(0, 7), Out: log.under(""), Err: log.under("2> "),
	}
	if d.HasArg("all") {
		var set string
		d.ScanArgs(t, "all", &set)
		if err := cfg.All.UnmarshalText([]byte(set)); err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	if d.HasArg("ndjson") {
		cfg.Format = NDJSON
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	setUp(t, d, &cfg, tape, log, lines)
	if d.HasArg("timeout") {
		var s string
		d.ScanArgs(t, "timeout", &s)
		limit, _ := time.ParseDuration(s)
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errors.New("the time is over"))
		defer cancel()
	}
	status, err := Run(ctx, cfg)
	log.line("exit %d", status)
	if err != nil {
		log.line("error: %v", err)
	}
	tape.Close(t.Context())
	return log.b.String()
}

func setUp(t *testing.T, d *datadriven.TestData, cfg *Config, tape *sessiontest.Tape, log *transcript, lines string) {
	split := strings.Split(strings.TrimSuffix(lines, "\n"), "\n")
	if split[0] == "" && len(split) == 1 {
		split = nil
	}
	interrupts := make(chan struct{}, 1)
	cfg.Interrupts = interrupts
	switch {
	case d.HasArg("typed"):
		cfg.Interactive = true
		cfg.Lines = &typist{t: t, lines: split, tape: tape, log: log, closed: make(chan struct{})}
	case d.HasArg("piped"):
		cfg.Lines = Pipe(io.NopCloser(strings.NewReader(lines)))
	default:
		cfg.Scripts = []Script{{Name: "script", Lines: split}}
	}
	if d.HasArg("launch") {
		var at string
		d.ScanArgs(t, "launch", &at)
		cfg.Start = &session.Call{Command: "launch", Args: protocol.Args{Job: &protocol.Job{Program: "./a", StopAt: at}}}
	}
	if d.HasArg("of") {
		d.ScanArgs(t, "of", &cfg.Start.Ranks)
	}
	if d.HasArg("attach") {
		cfg.Start = &session.Call{Command: "attach", Args: protocol.Args{Pids: []protocol.Pid{{Rank: 0, PID: 1}}}}
	}
	cfg.StopOnError = d.HasArg("stop-on-error")
	if d.HasArg("at-end") {
		d.ScanArgs(t, "at-end", (*string)(&cfg.AtEnd))
	}
	if d.HasArg("stdin") {
		var text string
		d.ScanArgs(t, "stdin", &text)
		cfg.Input, cfg.InputRanks = io.NopCloser(strings.NewReader(text)), "0"
	}
	if d.HasArg("interrupted") {
		interrupts <- struct{}{}
	}
	if d.HasArg("press") {
		var text string
		d.ScanArgs(t, "press", &text)
		every, err := time.ParseDuration(text)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		for i := range 2 {
			time.AfterFunc(every*time.Duration(i+1), func() { interrupts <- struct{}{} })
		}
	}
	if d.HasArg("shared") {
		cfg.Welcome = &session.Welcome{Session: "sdm-1", Front: protocol.FrontEnd{Number: 1, Name: "we"}}
		var names []string
		for _, a := range d.CmdArgs {
			if a.Key == "shared" {
				names = a.Vals
			}
		}
		for i, name := range slices.DeleteFunc(names, func(s string) bool { return s == "" }) {
			cfg.Welcome.Others = append(cfg.Welcome.Others, protocol.FrontEnd{Number: i + 2, Name: name, Door: "console"})
		}
	}
	cfg.Guest = d.HasArg("guest")
	if d.HasArg("progress") {
		cfg.Progress = progressLog{log}
	}
}

type progressLog struct{ t *transcript }

func (p progressLog) Write(b []byte) (int, error) {
	p.t.line("progress %q", b)
	return len(b), nil
}

// typist types lines at a prompt. Before each it waits until everything else is idle, so that
// transcripts are reproducible.
type typist struct {
	t      *testing.T
	lines  []string
	tape   *sessiontest.Tape
	log    *transcript
	closed chan struct{}
	tab    func(string) ([]string, int)
}

func (p *typist) ReadLine(prompt string) (string, error) {
	for len(p.lines) > 0 {
		synctest.Wait()
		line := p.lines[0]
		p.lines = p.lines[1:]
		words, rest, _ := strings.Cut(line, " ")
		switch words {
		case "~wait":
			d, err := time.ParseDuration(rest)
			if err != nil {
				p.t.Error(err)
			}
			select {
			case <-time.After(d):
			case <-p.closed:
			}
		case "~emit":
			var e session.Event
			if err := json.Unmarshal([]byte(rest), &e); err != nil {
				p.t.Error(err)
			}
			p.tape.Emit(e)
		case "~tab":
			found, replaces := p.tab(rest)
			p.log.line("tab %s: %q, %d", rest, found, replaces)
		case "~^C":
			p.log.line("%s^C", prompt)
			return "", ErrInterrupted
		default:
			p.log.line("%s%s", prompt, line)
			return line, nil
		}
	}
	synctest.Wait()
	p.log.line("%s^D", prompt)
	return "", io.EOF
}

func (p *typist) Complete(f func(string) ([]string, int)) { p.tab = f }

func (p *typist) Close() error { close(p.closed); return nil }
