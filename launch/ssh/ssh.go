// Package ssh starts servers on other hosts by the user's ssh, or by a remote shell with the same
// arguments (rsh, a site's own).
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

// defaultShell does not prompt: a user cannot answer prompts of a hundred hosts.
var defaultShell = []string{"ssh", "-x", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "--"}

// atOnce is the default of how many remote shells run at the same time. It exceeds the number of
// unauthenticated connections that one sshd takes (MaxStartups 10 by default), but the shells go
// to different hosts. Each needs some MB on this host for less than a second.
const atOnce = 32

// Command is a command for a host. It must close its standard streams when it no longer needs this
// process: until then the remote shell is kept, and the output is kept for an error text.
type Command struct {
	Host  string
	Argv  []string
	Local bool // on this host, by /bin/sh without a remote shell
}

// Spec says what to start.
type Spec struct {
	// Shell is the remote shell with its options; the host and a line for its shell are appended.
	// Empty is ssh, which must not prompt.
	Shell    []string
	Commands []Command
	AtOnce   int      // remote shells at the same time; 0 is 32
	Env      []string // of the remote shells; nil: this process's
	// Input is what each command can read from descriptor InputFD. It is sent through the standard
	// input of the remote shell and must fit into a pipe (some KB at most). nil: the descriptor is
	// closed.
	Input []byte
}

// InputFD is the descriptor of Spec.Input; the standard input of commands is /dev/null.
const InputFD = 3

// Failure is the error of a command that has failed, or that has not closed its standard streams
// in order.
type Failure struct {
	Host string
	Err  error
	Said string // the end of its output, some lines at most
}

func (f *Failure) Error() string { return f.Host + ": " + f.Because() }

// Because returns the text of the failure without the host.
func (f *Failure) Because() string {
	text := f.Err.Error()
	if f.Said != "" {
		text += ": " + strings.Join(strings.Split(f.Said, "\n"), "; ")
	}
	return text
}

// Fleet is a set of started commands. Goroutines: one for each of AtOnce shells, which ends when
// nothing is left to start, and one that waits for those. All end with Close at the latest.
type Fleet struct {
	spec   Spec
	ctx    context.Context
	cancel context.CancelFunc
	group  sync.WaitGroup
	queue  chan Command

	mu      sync.Mutex
	ended   map[string]error // by host
	over    chan struct{}    // closed when all commands have closed their streams or have failed, or after Close
	changed chan struct{}    // capacity 1
}

// Start starts the commands in the background and returns at once.
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

// complete fills in defaults. n is how many remote shells run at the same time.
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

// Changed returns a channel that gets a value when another command has closed its streams or
// failed.
func (f *Fleet) Changed() <-chan struct{} { return f.changed }

// Ended reports whether the remote shell of a host has ended, and its error.
func (f *Fleet) Ended(host string) (err error, ended bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err, ended = f.ended[host]
	return err, ended
}

// Close ends the remote shells that still run. A server that loses its master that way ends by
// itself.
func (f *Fleet) Close() {
	f.cancel()
	<-f.over
}

// afterTerm is how long a remote shell and its children on this host may take to end after the
// SIGTERM that they get when ctx ends.
const afterTerm = 5 * time.Second

// command returns the command that runs a line of a POSIX shell on the host of c.
func (s *Spec) command(ctx context.Context, c Command, line string) *exec.Cmd {
	argv := []string{"/bin/sh", "-c", line}
	if !c.Local {
		argv = Argv(s.Shell, c.Host, line)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = afterTerm
	cmd.Env = s.Env
	if s.Input != nil {
		cmd.Stdin = bytes.NewReader(s.Input)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C reaches only this process
	return cmd
}

// run runs one command until it has closed its streams.
func (f *Fleet) run(c Command) error {
	if err := protocol.CheckHost(c.Host); err != nil && !c.Local {
		return &Failure{Host: c.Host, Err: err}
	}
	cmd := f.spec.command(f.ctx, c, backgroundLine(c.Argv, f.spec.Input != nil))
	said := &tail{}
	out, err := cmd.StdoutPipe() // stderr goes to the same pipe: text may come on either
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

// backgroundLine returns a line for a POSIX shell that starts a command in the background, so that
// the remote shell lasts only as long as the command keeps its standard output open. A background
// command does not get the shell's standard input (POSIX, Asynchronous Lists), so the input goes
// by another descriptor.
func backgroundLine(argv []string, input bool) string {
	line := QuoteAll(argv) + " </dev/null &"
	if input {
		line = fmt.Sprintf("exec %d<&0; ", InputFD) + line
	}
	return line
}

// QuoteAll returns a command line of words for a POSIX shell.
func QuoteAll(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = Quote(w)
	}
	return strings.Join(words, " ")
}

// Quote quotes a text as one word for a POSIX shell.
func Quote(text string) string {
	plain := text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:,=+@%") == ""
	if plain {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// maxTail is how many bytes of output are kept for an error.
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
