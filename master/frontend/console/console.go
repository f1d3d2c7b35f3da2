// Package console is the text front end: it reads commands from scripts and a prompt, executes them
// in a session, and writes answers and events.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"sdm/master/hangfile"
	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Format is how answers and events are written.
type Format string

const (
	Text   Format = "text"   // for users
	NDJSON Format = "ndjson" // unchanged events, one JSON object a line
)

// AtEnd is what happens to ranks that live when the session ends. "" tells nothing.
type AtEnd string

const (
	AtEndKilled   AtEnd = "killed"
	AtEndDetached AtEnd = "detached"
)

// Config configures a console. Session, Out and Err must be set.
type Config struct {
	Session session.Session
	// All are the ranks of the job.
	All rank.Set
	// Out receives answers, events and the standard output of the ranks; Err receives their
	// standard error and the console's own errors. At a prompt both must be its Above. One
	// goroutine writes to them.
	Out, Err io.Writer
	Format   Format // "" is Text
	// Writer formats text for Out, ErrWriter that for Err; the console sets All.
	Writer, ErrWriter text.Writer

	// Start is the launch or attach that the session begins with. There is no limit for its
	// answers. nil begins with the scripts.
	Start *session.Call
	// Past tells that the session shows an earlier time: events are not written, and how the ranks
	// ended does not determine the status.
	Past bool
	// AnswersOnly suppresses events, except lost and signalled ranks, and output.
	AnswersOnly bool
	// Started is called when Start is complete and some rank has been started, before any other
	// command, by Run's goroutine. It is not called if no rank could be started. nil: not called.
	Started func()
	// Over is called when Run returns, with the states of the ranks and those that were killed by a
	// command. It may be nil.
	Over func(states *session.States, killed rank.Set)
	// End closes the session when the console has ended it, after Over. Run calls it by a goroutine and writes what the
	// ranks write until the session is closed: that of detached ranks, or of others before they are killed. It is not
	// called if Run returns an error. nil: the caller closes the session, and such output is lost.
	End func()
	// AtEnd is what happens to the remaining ranks when all commands are complete. It is written if
	// some run then, and asked for at a prompt if they are killed.
	AtEnd AtEnd
	// Welcome is what the session, which several front ends share, has told when it was joined; then the user may
	// leave. nil: the session is this console's own. Guest: the session is another's: what ends without a quit leaves.
	Welcome *session.Welcome
	Guest   bool
	// Shown receives the cursor of the last event that was shown, when Run returns; nil: it is not needed.
	Shown *uint64
	// StopOnError ends scripts at the first command that fails; if not Interactive, it ends the
	// console.
	StopOnError bool
	// Scripts are executed one after the other, then Lines are read.
	Scripts []Script
	// Lines supplies further commands; nil ends the console after the scripts.
	Lines Lines
	// Interactive tells that a user types Lines: resuming commands do not wait for the ranks to
	// stop, errors do not end the console, and an empty line repeats the last command.
	Interactive bool

	// Input is the standard input of the ranks InputRanks; nil sends none. It is closed at the end,
	// which must end a pending Read.
	Input      io.ReadCloser
	InputRanks string
	// Fold is the window in which equal stops of other ranks are awaited while some still run, to
	// show them in one line. 0 is FoldWait; a negative value does not wait. The window for the
	// first stops of a job is five times as long. If further stops come within a window, another
	// one follows, up to ten in all.
	Fold time.Duration
	// Echo writes the prompt and each command of a script before it is executed, as in a session at
	// a prompt. It applies to Text only.
	Echo bool
	// IsTimeout reports whether ctx has ended because of --timeout; then the stacks of all remaining
	// ranks are shown at the end. It may be nil.
	IsTimeout func(error) bool
	// Wait bounds the answers of each command; 0 is the session's default.
	Wait time.Duration
	// WholeSets makes NDJSON write complete rank sets in long events.
	WholeSets bool
	// Interrupts receives Ctrl-C while the prompt does not read. nil: none.
	Interrupts <-chan struct{}
	// FileMode is the mode of hang files, and of exports if it is given; 0 is userfile.OwnMode, and for exports what
	// the umask leaves.
	FileMode os.FileMode
	// HangFile returns a hang file for this time, with nothing of the ranks, for stacks --hang-file; nil: not available.
	HangFile func() *hangfile.File
	// Shell runs shell commands; nil: not available.
	Shell Shell
	// Log receives defects, with their stacks; nil discards them.
	Log *slog.Logger
	// Screen returns the lines and columns of the terminal that shows the answers; nil: not a
	// terminal, and no paging.
	Screen func() (rows, columns int)
	// Progress receives a status line while a start or the reading of symbols takes long; it must
	// be a terminal. nil: none.
	Progress io.Writer
}

// Lines supplies commands one by one.
type Lines interface {
	// ReadLine shows the prompt and returns the next line, without its newline. The error is io.EOF
	// at the end, or ErrInterrupted for Ctrl-C.
	ReadLine(prompt string) (string, error)
	// Complete sets the function that completes the end of a line, before the first ReadLine.
	// replaces is the number of bytes at the end that a candidate replaces.
	Complete(func(line string) (candidates []string, replaces int))
	// Close ends a pending ReadLine.
	Close() error
}

// ErrInterrupted is the error of ReadLine for Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Validate returns an error that names the first invalid field and the reason.
func (c Config) Validate() error {
	switch {
	case c.Session == nil || c.Out == nil || c.Err == nil:
		return errors.New("console: Session, Out and Err must be there")
	case c.Format != "" && c.Format != Text && c.Format != NDJSON:
		return fmt.Errorf("console: Format: %q is not a format (text, ndjson)", c.Format)
	case c.Interactive && c.Lines == nil:
		return errors.New("console: Interactive: there are no Lines to read")
	}
	return nil
}

// suppresses reports whether AnswersOnly or Past suppress an event.
func (c *Config) suppresses(e session.Event) bool {
	if c.Past {
		return !e.IsAnswer()
	}
	return c.AnswersOnly && !e.IsAnswer() && e.Group.Kind != protocol.KindLost && e.Group.Kind != protocol.KindSignalled
}

// Run executes all commands and returns the exit status (see Status). Unless End does, the caller closes the
// session. When ctx is done, the error is its cause.
//
// It starts up to four goroutines: one reads Lines on request, one reads Input, one runs a shell
// command, one runs End. They end before Run returns.
func Run(ctx context.Context, cfg Config) (Status, error) {
	if err := cfg.Validate(); err != nil {
		return StatusUsage, err
	}
	if cfg.Format == "" {
		cfg.Format = Text
	}
	if cfg.Fold == 0 {
		cfg.Fold = FoldWait
	}
	cfg.Writer.All, cfg.ErrWriter.All = cfg.All, cfg.All
	ctx, cancel := context.WithCancel(ctx)
	c := newConsole(ctx, cfg)
	defer c.close()
	defer cancel()
	if cfg.Shown != nil {
		defer func() { *cfg.Shown = c.shown }()
	}
	over := sync.OnceFunc(func() {
		if cfg.Over != nil {
			cfg.Over(c.states, c.killed)
		}
	})
	defer over()
	status, err := c.run(ctx)
	if err == nil && cfg.End != nil {
		over()
		c.end()
	}
	return status, err
}

// end closes the session and writes the output of the ranks until it is closed.
func (c *console) end() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.cfg.End()
	}()
	for e := range c.cfg.Session.Events() {
		if e.Group.Kind == protocol.KindStdout || e.Group.Kind == protocol.KindStderr {
			c.takeGuarded(e)
		}
	}
	<-closed
}

// console is the state of the loop, which owns it.
type console struct {
	screen
	job
	cfg *Config
	// within returns a context that ends with the context of Run, or is ended.
	within func() (context.Context, context.CancelCauseFunc)
	do     func(session.Call) (protocol.RequestID, error)
	sh     func(line string) error
	await  await // what the next command waits for

	scripts scripts
	reader  *reader // of Lines; nil: there are none
	lines   int     // number that it has read
	feed    *feeder // of Input; nil: there is none

	focus       rank.Set
	wait        time.Duration
	last        language.Command // for an empty line
	completions *completions
	toldPart    bool // the user was told that some of the focus run
	lister      lister
	folded      foldedAnswers // for expand
	pressed     presses       // of Ctrl-C since the last line
	foldBuffer  foldBuffer

	block    *block // a command whose lines are being read
	barriers barriers
	values   valueFiles
	pending  language.Pending // whether breakpoints may wait for libraries
	question *question        // answered by the next line; nil: none
	unasked  bool             // set confirm off

	verdicts verdict.Judge // of events that are written as JSON
	aborting aborting
	leaks    leakCheck
	company
	ended  bool   // no further command will come
	left   bool   // with ended: the session goes on
	status Status // if ended by a command or an error
	cut    bool   // Ctrl-C has ended samples
	exitStatus
}

func newConsole(ctx context.Context, cfg Config) *console {
	c := &console{
		screen: screen{cfg: &cfg, progress: progress{out: cfg.Progress}},
		job:    job{all: cfg.All, states: session.NewStates(cfg.All), calls: map[protocol.RequestID]*call{}},
		cfg:    &cfg,
		within: func() (context.Context, context.CancelCauseFunc) { return context.WithCancelCause(ctx) },
		do:     func(call session.Call) (protocol.RequestID, error) { return cfg.Session.Do(ctx, call) },
		focus:  cfg.All, wait: cfg.Wait, lister: lister{size: listLines},
		scripts: newScripts(cfg.Scripts), completions: newCompletions(),
	}
	c.flush = c.writeHeld
	c.company.join(cfg.Welcome)
	if cfg.Shell != nil {
		c.sh = func(line string) error { return cfg.Shell(ctx, line) }
	}
	if cfg.Lines != nil {
		cfg.Lines.Complete(c.completions.complete)
		c.reader = newReader(cfg.Lines)
	}
	return c
}

// close ends the goroutines and waits for them.
func (c *console) close() {
	c.writeHeld()
	c.release()
	c.progress.stop()
	if c.await.shell != nil {
		<-c.await.shell
	}
	if c.await.reading != nil {
		c.await.reading.stop(nil)
		<-c.await.reading.done
	}
	if c.reader != nil {
		c.reader.close()
	}
	if c.feed != nil {
		c.feed.close()
	} else if c.cfg.Input != nil {
		c.cfg.Input.Close()
	}
}
