// The process of sdm-pmix.

package pmix

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Program is the name of the program that links libpmix.
const Program = "sdm-pmix"

// ErrNoProgram means that sdm-pmix is not installed.
var ErrNoProgram = errors.New("sdm-pmix is neither beside sdm nor in PATH (make build makes it where pkg-config finds pmix: libpmix-dev of Debian, pmix-devel of Fedora)")

// FindProgram returns the path of sdm-pmix: beside the executable of this process, or in PATH. The
// error is ErrNoProgram.
func FindProgram() (string, error) {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		if beside, err := exec.LookPath(filepath.Join(filepath.Dir(self), Program)); err == nil {
			return beside, nil
		}
	}
	if found, err := exec.LookPath(Program); err == nil {
		return found, nil
	}
	return "", ErrNoProgram
}

// HelperSpec says how to start sdm-pmix.
type HelperSpec struct {
	Path           string
	Env            []string
	Stdout, Stderr *os.File      // get what the server forwards; nil is /dev/null
	OnEvent        func(Message) // see NewConn
}

// Helper is a running sdm-pmix.
//
// Goroutines: the one of its Conn; one that waits for the process and ends with it.
type Helper struct {
	*Conn
	Library Version // of the libpmix that it has loaded

	cmd    *exec.Cmd
	exited chan struct{}
}

// ownIdentity are the variables that make a tool a rank of the job in which sdm itself runs.
var ownIdentity = []string{"PMIX_NAMESPACE=", "PMIX_RANK=", "PMIX_SERVER_URI", "PMIX_SERVER_NSPACE=", "PMIX_SERVER_RANK="}

// StartHelper starts sdm-pmix and waits until it has loaded libpmix.
func StartHelper(ctx context.Context, spec HelperSpec) (*Helper, error) {
	h := &Helper{exited: make(chan struct{}), cmd: exec.Command(spec.Path)}
	h.cmd.Env = slices.DeleteFunc(slices.Clone(spec.Env), func(e string) bool {
		return slices.ContainsFunc(ownIdentity, func(name string) bool { return strings.HasPrefix(e, name) })
	})
	if spec.Stdout != nil {
		h.cmd.Stdout = spec.Stdout
	}
	if spec.Stderr != nil {
		h.cmd.Stderr = spec.Stderr
	}
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for sdm
	if err := h.start(spec.OnEvent); err != nil {
		return nil, fmt.Errorf("start %s: %w", Program, err)
	}
	hello, err := h.Hello(ctx)
	if err == nil {
		h.Library, err = ParseVersion(hello.Library)
	}
	if err != nil {
		err = h.explained(err)
		h.kill()
		return nil, err
	}
	return h, nil
}

// start starts the process with its two pipes.
func (h *Helper) start(onEvent func(Message)) error {
	theirs, requests, err := os.Pipe()
	if err != nil {
		return err
	}
	messages, theirMessages, err := os.Pipe()
	if err != nil {
		return errors.Join(err, theirs.Close(), requests.Close())
	}
	h.cmd.ExtraFiles = []*os.File{theirs, theirMessages} // descriptors 3 and 4
	err = h.cmd.Start()
	theirs.Close()
	theirMessages.Close()
	if err != nil {
		return errors.Join(err, requests.Close(), messages.Close())
	}
	h.Conn = NewConn(messages, requests, onEvent)
	go func() {
		defer close(h.exited)
		<-h.Conn.Done()
		messages.Close()
		h.cmd.Wait() // the result is in ProcessState
	}()
	return nil
}

// Call is Conn.Call; if sdm-pmix has ended, the error says how.
func (h *Helper) Call(ctx context.Context, r Request) (Message, error) {
	m, err := h.Conn.Call(ctx, r)
	return m, h.explained(err)
}

// exitWait is how long an sdm-pmix that has closed its end, or whose requests were closed, may take to
// end before an error is reported without its exit status.
const exitWait = 2 * time.Second

// explained adds how sdm-pmix has ended.
func (h *Helper) explained(err error) error {
	if !errors.Is(err, errClosed) {
		return err
	}
	select {
	case <-h.exited: // it has closed its messages
	case <-time.After(exitWait): // it hangs; End kills it
		return err
	}
	w, ok := h.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case ok && w.Signaled():
		return fmt.Errorf("%w by signal %d (%s): a fault of libpmix, or of what the server has sent", err, w.Signal(), w.Signal())
	case h.cmd.ProcessState.ExitCode() != 0:
		return fmt.Errorf("%w with status %d", err, h.cmd.ProcessState.ExitCode())
	}
	return err
}

// End leaves the server and waits for the end of sdm-pmix. It kills it when ctx ends.
func (h *Helper) End(ctx context.Context) {
	h.Call(ctx, Request{Call: CallFinalize}) // sdm-pmix is ended whether or not it answers
	h.Close()
	select {
	case <-h.exited:
	case <-ctx.Done():
		h.kill()
	}
}

func (h *Helper) kill() {
	h.cmd.Process.Kill()
	h.Close()
	<-h.exited
}
