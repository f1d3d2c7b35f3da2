// sdm run --on HOST: the process of the session is on another host.
//
//	sdm run --on HOST ── remote shell ──→ sdm hold ──→ sdm hold run ...   the session, on HOST
//	        order, then JSON-RPC           relays

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"

	"sdm/launch/ssh"
	"sdm/master/frontend/console"
	"sdm/protocol/canonical"
)

// order tells another host which session to begin. It goes over standard input, since everybody there can read a
// command line.
type order struct {
	Args []string `json:"args"` // ours
	Dir  string   `json:"dir"`
	Env  []string `json:"env"` // our flags that are in the environment (SDM_*)
	// Wait keeps the relay until the session has ended, though its front end has left.
	Wait bool `json:"wait"`
}

// maxOrder bounds an order, in bytes: more than a command line may have.
const maxOrder = 4 << 20

// startHolderOn starts the process of a session on another host, connected to it by a remote shell.
func (a *app) startHolderOn(p *plan) (net.Conn, *exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	shell := p.job.Servers.Shell()
	if len(shell) == 0 {
		shell = ssh.Default()
	}
	argv := ssh.Argv(shell, p.on, ssh.QuoteAll([]string{self, holdSubcommand}))
	process := exec.Command(argv[0], argv[1:]...)
	process.Stderr, process.Env = a.stderr, a.env
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for the console
	conn, err := startConnected(process, func(theirs *os.File) { process.Stdin, process.Stdout = theirs, theirs })
	if err != nil {
		return nil, nil, err
	}
	o := order{Args: a.args, Dir: dir, Wait: !a.isInteractive(&p.console)}
	for _, e := range a.env {
		if strings.HasPrefix(e, "SDM_") {
			o.Env = append(o.Env, e)
		}
	}
	_, _ = conn.Write(append(canonical.JSON(o), '\n')) // an error shows in the answer that does not come
	return conn, process, nil
}

// isOfShell reports whether an exit status is that of a remote shell which could not run sdm, as far as those can be
// told apart (POSIX, sh: 126 and 127; ssh(1): 255; -1 is a signal).
func isOfShell(status int) bool { return status == -1 || status == 1 || status > 125 && status != 130 }

// holdFor is the other end: it starts the process of the session that standard input orders, and relays between our
// standard streams and it until one of them ends. The status is that of the session.
//
// Goroutines: one for each direction, and one that waits for the process. They end with this process at the latest.
func (a *app) holdFor() console.Status {
	in := bufio.NewReaderSize(a.stdin, maxOrder)
	o, err := readOrder(in)
	if err == nil {
		err = os.Chdir(o.Dir)
	}
	if err != nil {
		return a.fail(console.StatusNotStarted, err)
	}
	out := a.stdout
	a.args, a.env, a.stdout = o.Args, append(a.env, o.Env...), a.stderr
	conn, process, err := a.startHolder()
	if err != nil {
		return a.fail(console.StatusNotStarted, fmt.Errorf("the process of the session: %w", err))
	}
	var answered atomic.Bool // the session is there
	ended, said, gone := make(chan error, 1), make(chan struct{}), make(chan struct{})
	go func() { ended <- process.Wait() }()
	go func() {
		defer close(said)
		n, _ := io.CopyN(out, conn, 1)
		answered.Store(n > 0)
		_, _ = io.Copy(out, conn)
	}()
	go func() {
		defer close(gone)
		_, _ = io.Copy(conn, in)
	}()
	select {
	case <-ended:
	case <-gone:
		conn.Close() // the session sees that its front end is gone
		switch {
		case !answered.Load(): // nobody would find it
			process.Process.Signal(syscall.SIGTERM)
		case !o.Wait:
			return console.StatusGood
		}
		<-ended
	}
	<-said
	return console.Status(max(0, process.ProcessState.ExitCode()))
}

// readOrder reads an order, a line.
func readOrder(in *bufio.Reader) (o order, err error) {
	line, err := in.ReadSlice('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	if err == nil && len(o.Args) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		err = fmt.Errorf("hold is for sdm itself (no order of sdm run --on: %w)", err)
	}
	return o, err
}
