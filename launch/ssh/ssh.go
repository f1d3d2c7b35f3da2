// Package ssh starts our servers on other hosts by the user's own ssh, or by
// whatever is called like it (rsh, a site's remote shell).
package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"sdm/protocol"
)

// defaultShell asks nothing: nobody could answer for a hundred hosts.
var defaultShell = []string{"ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "--"}

// atOnce is how many remote shells run at the same time, where Spec does not
// say: more than an sshd takes unauthenticated (MaxStartups 10 by default) go to
// different hosts, and each costs some MB here for less than a second.
const atOnce = 32

// Command is what is to run on a host. It is expected to give up its standard
// streams when it needs nobody here any more: until then the remote shell is
// kept, and what is said is kept for the error.
type Command struct {
	Host  string
	Argv  []string
	Local bool // on this host, by our own shell
}

// Spec says what to start.
type Spec struct {
	// Shell is the remote shell with its options; the host and a line for its
	// shell are appended. Empty is ssh, which must not ask for anything.
	Shell    []string
	Commands []Command
	AtOnce   int // remote shells at the same time; 0 is 32
	// Input is what each command finds at descriptor InputFD: it comes through the
	// standard input of the remote shell. A pipe holds it (some KB at most). nil: the
	// descriptor is not there.
	Input []byte
}

// InputFD is where commands read Spec.Input; their standard input is /dev/null.
const InputFD = 3

// Failure is that a command has not come to the point where it needs us no
// longer, or has ended with an error.
type Failure struct {
	Host string
	Err  error
	Said string // the last words, some lines at most
}

func (f *Failure) Error() string { return f.Host + ": " + f.Because() }

// Because is the failure without the host.
func (f *Failure) Because() string {
	text := f.Err.Error()
	if f.Said != "" {
		text += ": " + strings.Join(strings.Split(f.Said, "\n"), "; ")
	}
	return text
}

// Fleet is what has been started. Goroutines: one for each of AtOnce shells, which
// ends when nothing is left to be started, and one that waits for those. They end
// with Close at the latest.
type Fleet struct {
	spec   Spec
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	queue  chan Command

	mu      sync.Mutex
	ended   map[string]error // by host
	over    chan struct{}    // closed when all have been started and have given up their streams
	changed chan struct{}    // capacity 1
}

// Start begins to start them and returns at once.
func Start(spec Spec) *Fleet {
	n := spec.complete()
	f := &Fleet{
		spec: spec, queue: make(chan Command, len(spec.Commands)),
		ended: map[string]error{}, over: make(chan struct{}), changed: make(chan struct{}, 1),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	for _, c := range spec.Commands {
		f.queue <- c
	}
	close(f.queue)
	for range n {
		f.group.Go(f.work)
	}
	go func() {
		f.group.Wait()
		close(f.over)
	}()
	return f
}

// complete fills in what was left out. n is how many remote shells run at the same
// time.
func (s *Spec) complete() (n int) {
	if len(s.Shell) == 0 {
		s.Shell = defaultShell
	}
	if n = s.AtOnce; n <= 0 {
		n = atOnce
	}
	return min(n, len(s.Commands))
}

func (f *Fleet) work() {
	for c := range f.queue {
		if f.ctx.Err() != nil {
			return
		}
		err := f.run(c)
		f.mu.Lock()
		f.ended[c.Host] = err
		f.mu.Unlock()
		select {
		case f.changed <- struct{}{}:
		default:
		}
	}
}

// Changed tells that another command has given up its streams, or failed.
func (f *Fleet) Changed() <-chan struct{} { return f.changed }

// Ended tells whether the remote shell of a host has ended, and how.
func (f *Fleet) Ended(host string) (err error, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ended = f.ended[host]
	return err, ended
}

// Close ends the remote shells that still run; the servers, which have lost
// their master then, end by themselves.
func (f *Fleet) Close() {
	f.cancel()
	<-f.over
}

// afterTerm is what a remote shell and those it has started here get to end after
// SIGTERM, which they get when ctx is over.
const afterTerm = 5 * time.Second

// command is what runs a line of a POSIX shell where a command is to run.
func (s *Spec) command(ctx context.Context, c Command, line string) *exec.Cmd {
	argv := []string{"/bin/sh", "-c", line}
	if !c.Local { // the user's own shell need not be a POSIX one
		argv = append(append([]string{}, s.Shell...), c.Host, "exec /bin/sh -c "+Quote(line))
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = afterTerm
	if s.Input != nil {
		cmd.Stdin = bytes.NewReader(s.Input)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C reaches only us
	return cmd
}

// run runs one command until it has given up its streams.
func (f *Fleet) run(c Command) error {
	if err := protocol.CheckHost(c.Host); err != nil && !c.Local {
		return &Failure{Host: c.Host, Err: err}
	}
	cmd := f.spec.command(f.ctx, c, backgroundLine(c.Argv, f.spec.Input != nil))
	said := &tail{}
	out, err := cmd.StdoutPipe() // stderr is the same: what it says may be on either
	if err != nil {
		return &Failure{Host: c.Host, Err: err}
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return &Failure{Host: c.Host, Err: err}
	}
	stop := context.AfterFunc(f.ctx, func() { out.Close() })
	io.Copy(said, out)
	stop()
	err = cmd.Wait()
	if err != nil || said.text() != "" {
		if err == nil {
			err = errors.New("the server has not come up")
		}
		return &Failure{Host: c.Host, Err: fmt.Errorf("%s: %w", cmd.Args[0], err), Said: said.text()}
	}
	return nil
}

// backgroundLine is a line for a POSIX shell that starts a command in the
// background, so that the remote shell lasts only as long as the command keeps
// its standard output. What stands in the background has no standard input of the
// shell (POSIX, Asynchronous Lists), so input goes by another descriptor.
func backgroundLine(argv []string, input bool) string {
	line := QuoteAll(argv) + " </dev/null &"
	if input {
		line = fmt.Sprintf("exec %d<&0; ", InputFD) + line
	}
	return line
}

// QuoteAll makes a command line of words for a POSIX shell.
func QuoteAll(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = Quote(w)
	}
	return strings.Join(words, " ")
}

// Quote makes a text one word of a POSIX shell.
func Quote(text string) string {
	plain := text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%") == ""
	if plain {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// maxTail is how many bytes of last words are kept.
const maxTail = 2 << 10

// tail keeps the end of what is written to it. One goroutine writes.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if len(t.b) > maxTail {
		t.b = append([]byte(nil), t.b[len(t.b)-maxTail:]...)
	}
	return len(p), nil
}

func (t *tail) text() string { return string(bytes.TrimSpace(t.b)) }
