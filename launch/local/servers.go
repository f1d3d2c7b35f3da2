// The sdm-servers of a session on this machine.

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/protocol"
)

// ServersSpec says which servers to start on this machine.
type ServersSpec struct {
	N      int      // how many, from 1
	Binary string   // path of sdm-server; "": see FindServer
	Args   []string // further arguments for each of them
	Env    []string // nil: this process's
	Key    [32]byte // proves the parent to the servers; used for two or more servers
}

// Servers are running sdm-server processes on this machine. They run in sessions of their own, so
// that Ctrl-C reaches only this process.
//
//	one:      two socket pairs; the server reads from descriptor 3 and writes
//	          to descriptor 4; no port is used
//	several:  each has a listener on 127.0.0.1 as descriptor 3, and as
//	          descriptor 4 a pipe with the key, which stays open: its end tells
//	          a server that has no parent yet that this process is gone
//
// They have no parent-death signal: a server that loses its link or its pipe must still detach its
// gdbs in order, and ends by itself.
type Servers struct {
	// Link is this process's ends of the socket pairs to the only server; nil if there are
	// several. The user of the link closes them.
	Link *Ends
	// Routes are the servers by number, with the address of each if there are several. The caller
	// fills in their ranks.
	Routes []protocol.Route

	linkEnds []*os.File // duplicates of Link's descriptors, which Close shuts down
	running  []*serverProcess
}

// StartServers starts the servers and returns at once; it does not wait until they are ready.
// After an error none is left running.
func StartServers(spec ServersSpec) (*Servers, error) {
	binary, err := FindServer(spec.Binary)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	s := &Servers{}
	for i := range spec.N {
		id := protocol.ServerID(i)
		s.Routes = append(s.Routes, protocol.Route{Server: id, Host: host})
		cmd := exec.Command(binary, append([]string{"--server", strconv.Itoa(i)}, spec.Args...)...)
		cmd.Env = spec.Env
		if err := s.start(cmd, id, spec); err != nil {
			s.Kill()
			return nil, fmt.Errorf("start server %d: %w", i, err)
		}
	}
	return s, nil
}

func (s *Servers) start(cmd *exec.Cmd, id protocol.ServerID, spec ServersSpec) error {
	if spec.N == 1 {
		return s.startLinked(cmd)
	}
	return s.startListening(cmd, id, spec.Key)
}

// Ends is one side of a link of two sockets.
type Ends struct {
	In  *os.File // to read from
	Out *os.File // to write to
}

// startLinked makes a socket pair for each direction, because --link-fd names two descriptors: one to
// read from and one to write to.
func (s *Servers) startLinked(cmd *exec.Cmd) error {
	in, theirOut, err := s.pair()
	if err != nil {
		return err
	}
	defer theirOut.Close()
	out, theirIn, err := s.pair()
	if err != nil {
		in.Close()
		return err
	}
	defer theirIn.Close()
	s.Link = &Ends{In: in, Out: out}
	cmd.Args = append(cmd.Args, "--link-fd", "3")
	return s.run(cmd, nil, theirIn, theirOut)
}

// pair makes a socket pair, and keeps a duplicate of this process's end in linkEnds.
func (s *Servers) pair() (ours, theirs *os.File, err error) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs = os.NewFile(uintptr(pair[0]), "link"), os.NewFile(uintptr(pair[1]), "link")
	copied, err := unix.FcntlInt(uintptr(pair[0]), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		ours.Close()
		theirs.Close()
		return nil, nil, err
	}
	s.linkEnds = append(s.linkEnds, os.NewFile(uintptr(copied), "link"))
	return ours, theirs, nil
}

func (s *Servers) startListening(cmd *exec.Cmd, id protocol.ServerID, key [32]byte) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := w.Write(key[:]); err != nil { // fits into the pipe
		w.Close()
		return err
	}
	s.Routes[id].Addrs, s.Routes[id].Listening = []string{listener.Addr().String()}, true
	cmd.Args = append(cmd.Args, "--listen-fd", "3", "--secret-fd", "4")
	return s.run(cmd, w, file, r)
}

func (s *Servers) run(cmd *exec.Cmd, keyPipe *os.File, files ...*os.File) error {
	cmd.ExtraFiles = files
	p, err := startServer(cmd, keyPipe)
	if err != nil {
		return err
	}
	s.running = append(s.running, p)
	return nil
}

// ErrHung is in the error of Close for each server that did not end by itself.
var ErrHung = errors.New("it did not end by itself")

// Close ends the links to the servers and returns when all have ended, except those that stay with
// detached ranks (see LetGo). A server that has been stopped (SIGSTOP) is continued, so that it
// can clean up. Servers that are left when ctx ends are killed, and so are their ranks and gdbs,
// which have a parent-death signal. The error names servers that failed, with the end of their
// stderr.
func (s *Servers) Close(ctx context.Context) error {
	s.endLinks()
	var bad []error
	for i, p := range s.running {
		err := p.wait(ctx)
		if p.woken && err == nil {
			err = fmt.Errorf("%w: it had been stopped by a signal, and was let run on", ErrHung)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("server %d (pid %d): %w%s", i, p.cmd.Process.Pid, err, p.stderr.quoted()))
		}
	}
	return errors.Join(bad...)
}

// Kill kills the servers at once and waits for them.
func (s *Servers) Kill() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	s.Close(over)
}

func (s *Servers) endLinks() {
	for _, end := range s.linkEnds {
		unix.Shutdown(int(end.Fd()), unix.SHUT_RDWR)
		end.Close()
	}
	if s.Link != nil {
		s.Link.In.Close()
		s.Link.Out.Close()
	}
	for _, p := range s.running {
		p.closeKeyPipe()
		p.wake()
	}
}

// Trouble describes, for error texts, the servers that have ended too early, with the end of their
// stderr. It is empty if there are none.
func (s *Servers) Trouble() string {
	var text string
	for i, p := range s.running {
		select {
		case <-p.done:
			cause := "ended"
			if p.err != nil {
				cause = p.err.Error()
			}
			text += fmt.Sprintf("server %d: %s%s\n", i, cause, p.stderr.quoted())
		default:
		}
	}
	return text
}

// PIDs returns the process ids by server number; some of the processes may have ended.
func (s *Servers) PIDs() []int {
	pids := make([]int, len(s.running))
	for i, p := range s.running {
		pids[i] = p.cmd.Process.Pid
	}
	return pids
}

// FindServer returns the path of sdm-server: the given path, else beside the running program, else
// in PATH.
func FindServer(path string) (string, error) {
	if path != "" {
		return path, nil
	}
	const name = "sdm-server"
	self, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		beside := filepath.Join(filepath.Dir(self), name)
		if isExecutable(beside) {
			return beside, nil
		}
	}
	if found, err := exec.LookPath(name); err == nil {
		return found, nil
	}
	return "", launchFault("", fmt.Errorf("%s is neither beside %s nor in PATH", name, self), "install it there")
}
