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
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"

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
func (a *app) startHolderOn(p *plan) (*holder, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	h, err := startOn(p.job.Servers.Shell(), p.on, []string{holdSubcommand}, func(shell *exec.Cmd) {
		shell.Stderr, shell.Env = a.stderr, a.env
		shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for the console
	})
	if err != nil {
		return nil, err
	}
	o := order{Args: a.args, Dir: dir, Wait: !a.isInteractive(&p.console)}
	for _, e := range a.env {
		if strings.HasPrefix(e, "SDM_") {
			o.Env = append(o.Env, e)
		}
	}
	_, _ = h.Write(append(canonical.JSON(o), '\n')) // an error shows in the answer that does not come
	return h, nil
}

// isOfShell reports whether an exit status is that of a remote shell which could not run sdm, as far as those can be
// told apart (POSIX, sh: 126 and 127; ssh(1): 255; -1 is a signal).
func isOfShell(status int) bool { return status == -1 || status == 1 || status > 125 && status != 130 }

// holdFor is the other end: it starts the process of the session that standard input orders, and relays between our
// standard streams and it until one of them ends. The status is that of the session.
//
// Goroutines: one for each direction. They end with this process at the latest.
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
	h, err := a.startHolder()
	if err != nil {
		return a.fail(console.StatusNotStarted, fmt.Errorf("the process of the session: %w", err))
	}
	var answered atomic.Bool // the session is there
	said, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(said)
		n, _ := io.CopyN(out, h, 1)
		answered.Store(n > 0)
		_, _ = io.Copy(out, h)
	}()
	go func() {
		defer close(gone)
		_, _ = io.Copy(h, in)
	}()
	select {
	case <-h.ended:
	case <-gone:
		h.Close() // the session sees that its front end is gone
		switch {
		case !answered.Load(): // no front end would find it
			h.signal(syscall.SIGTERM)
		case !o.Wait:
			return console.StatusGood
		}
		<-h.ended
	}
	<-said
	return console.Status(max(0, h.status()))
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
