// Package console provides the front end that a person types at: it reads
// commands from scripts and a prompt, hands them to a session, and writes what
// comes back.
package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"sdm/master/frontend/console/command"
	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Format is how answers and events are written.
type Format string

const (
	Text   Format = "text"   // for people
	NDJSON Format = "ndjson" // the events as they are, one JSON object a line
)

// Config is what a console needs. Session, Out and Err must be there.
type Config struct {
	Session session.Session
	// All are the ranks of the job.
	All rank.Set
	// Out takes answers, events and what the ranks write to their standard
	// output; Err takes their standard error and our own complaints. At a
	// prompt both lead to its Above. Writes to them are made by one goroutine.
	Out, Err io.Writer
	Format   Format // "" is Text
	// Writer says how text for Out is written, ErrWriter that for Err; the
	// console fills in All.
	Writer, ErrWriter text.Writer

	// Start is what the session begins with: launch or attach. Its answers may
	// take as long as they like. Nil begins with the scripts.
	Start *session.Call
	// AnswersOnly leaves unsaid what happens to ranks while all goes well, and what
	// they write.
	AnswersOnly bool
	// Started is called when every rank has answered Start, well or not, or will
	// not; before any other command, and by Run's goroutine. Nil: nobody asks.
	// It is not called when that is the end of it all.
	Started func()
	// Over is told what the ranks do when Run returns, and which of them were killed
	// by a command. It may be nil.
	Over func(states *session.States, killed rank.Set)
	// AtEnd is what becomes of the ranks that live when all commands are done:
	// "killed" or "detached". It is said if some run then; "" says nothing.
	AtEnd string
	// StopOnError ends scripts, and without a person everything, at the first
	// command that fails.
	StopOnError bool
	// Scripts are carried out one after the other, then Lines are read.
	Scripts []Script
	// Lines gives further commands; nil ends the console with the scripts.
	Lines Lines
	// Interactive tells that a person sits behind Lines: resuming commands do
	// not wait for the ranks to stop, mistakes end nothing, an empty line
	// repeats.
	Interactive bool

	// Input feeds the standard input of the ranks InputRanks; nil feeds nothing.
	// It is closed at the end, which must end a Read that waits.
	Input      io.ReadCloser
	InputRanks string
	// Fold is how long a stop is held until equal ones of other ranks have come,
	// while some still run: they are then one line. 0 is FoldWait, negative is not
	// at all. The first stops of a job are held five times as long. While more come
	// in that time it begins anew, ten times at most.
	Fold time.Duration
	// Echo writes the prompt and each command of a script before it is carried
	// out, as they stand in a session that was typed. Only text has echoes.
	Echo bool
	// IsTimeout tells whether the context has ended because the time of the invocation is over; then the stacks of all ranks are shown at
	// the end. May be nil.
	IsTimeout func(error) bool
	// Wait bounds the answers of each command; 0 is the session's default.
	Wait time.Duration
	// WholeSets has NDJSON write the rank sets of long events in full.
	WholeSets bool
	// Interrupts tells of Ctrl-C while the prompt does not read. Nil: none.
	Interrupts <-chan struct{}
	// Shell runs lines of the shell; nil: there is none.
	Shell Shell
	// Log is told of defects, with their stacks; nil: nobody is.
	Log *slog.Logger
	// Screen gives the lines and columns of the terminal that answers go to; nil: they go to none, and nothing is paged.
	Screen func() (rows, columns int)
	// Progress takes a line about a start that takes long, and about symbols that do; nil shows none.
	// It must be a terminal.
	Progress io.Writer
}

// Lines gives commands one by one.
type Lines interface {
	// ReadLine shows the prompt and gives the next line, without its end. It
	// ends with io.EOF, or ErrInterrupted for Ctrl-C.
	ReadLine(prompt string) (string, error)
	// Complete is told what the end of a line may be, before the first ReadLine.
	Complete(func(line string) (candidates []string, replaces int))
	// Close ends a ReadLine that waits.
	Close() error
}

// ErrInterrupted is what ReadLine gives for Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Validate says which field is wrong and why.
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

// Run carries out all commands and returns the exit status (see Status). The
// session is left for the caller to close. When ctx is over, the error is its
// cause.
//
// It starts up to three goroutines: one reads Lines when it is asked to, one
// reads Input, one runs a line of the shell. They end before Run returns.
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
	if cfg.Over != nil {
		defer func() { cfg.Over(c.states, c.killed) }()
	}
	return c.run(ctx)
}

// console is the state of the one loop that owns it all.
type console struct {
	cfg    Config
	do     func(session.Call) (protocol.RequestID, error)
	sh     func(line string) error
	states *session.States
	calls  map[protocol.RequestID]*call
	// following are the calls of lines of breakpoints that are not over.
	following []*call
	old       []protocol.RequestID // calls that are done, oldest first
	await     await                // what the next command waits for

	scripts scripts
	reader  *reader // of Lines; nil: there are none
	lines   int     // read by it
	feed    *feeder // of Input; nil: there is none

	focus       rank.Set
	wait        time.Duration
	last        command.Command // for an empty line
	groups      names           // of rank sets, for completion
	completions completions
	parted      bool        // that some of the focus run was said
	listed      text.Listed // what list gave last
	listSize    int         // how many lines it shows
	located     bool        // it was asked for by a location, not by where the ranks stand
	folded      []folded    // for expand, the last one last
	pressed     presses     // of Ctrl-C, no line since
	progress    progress
	held        held
	pager       pager

	block    *block          // a command whose lines are being read
	barriers []*gathering    // that not all ranks have reached
	pending  command.Pending // whether breakpoints may wait for libraries
	question *question       // what the next line answers; nil: nothing was asked

	killed   rank.Set // ranks that we were told to kill
	aborting aborting
	refused  rank.Set // ranks that could not be started or attached to
	ended    bool     // no further command will come
	status   Status   // if ended by a command or a mistake
	judge    bool     // the status is to be told from the ranks
	chosen   bool     // the status was given with quit
	failed   bool     // a command of a script has failed
}

func newConsole(ctx context.Context, cfg Config) *console {
	c := &console{
		cfg:    cfg,
		do:     func(call session.Call) (protocol.RequestID, error) { return cfg.Session.Do(ctx, call) },
		states: session.NewStates(cfg.All),
		calls:  map[protocol.RequestID]*call{},
		focus:  cfg.All, wait: cfg.Wait, listSize: listLines,
		scripts:  newScripts(cfg.Scripts),
		progress: progress{out: cfg.Progress}, completions: newCompletions(),
	}
	if cfg.Shell != nil {
		c.sh = func(line string) error { return cfg.Shell(ctx, line) }
	}
	if cfg.Lines != nil {
		cfg.Lines.Complete(c.complete)
		c.reader = newReader(cfg.Lines)
	}
	return c
}

// close ends the goroutines and waits for them.
func (c *console) close() {
	c.letGo()
	c.release()
	c.progress.stop()
	if c.await.shell != nil {
		<-c.await.shell
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
