// Starting the process of a session.

package main

import (
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/launch/ssh"
)

// holder is a process at the other end of a connection: that of a session, or the remote shell that leads to it.
//
// Goroutine: one waits for the process, and ends with it.
type holder struct {
	net.Conn
	cmd   *exec.Cmd
	ended chan struct{} // closed when the process has ended
}

// signal sends a signal to the process, which may have ended.
func (h *holder) signal(sig syscall.Signal) { _ = h.cmd.Process.Signal(sig) }

// status returns the exit status of a process that has ended; -1: a signal has ended it.
func (h *holder) status() int { return h.cmd.ProcessState.ExitCode() }

// startHolder starts the process of a session with our arguments, connected to it.
func (a *app) startHolder() (*holder, error) {
	return startHolder(a.args, func(process *exec.Cmd) {
		process.Stdout, process.Stderr, process.Env = a.stdout, a.stderr, a.env
	})
}

// startHolder starts the process of a session with some arguments, connected to it. with sets its streams and its
// environment.
func startHolder(args []string, with func(*exec.Cmd)) (*holder, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.Command(self, append([]string{holdSubcommand}, args...)...)
	process.Args[0] = "sdm"
	with(process)
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return startConnected(process, func(theirs *os.File) { process.ExtraFiles = []*os.File{theirs} }) // firstFD
}

// startConnected starts a process with one end of a pair of sockets, which give hands to it; the other is ours.
func startConnected(process *exec.Cmd, give func(theirs *os.File)) (*holder, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "session"), os.NewFile(uintptr(pair[1]), "front end")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	give(theirs)
	if err := process.Start(); err != nil {
		conn.Close()
		return nil, err
	}
	h := &holder{Conn: conn, cmd: process, ended: make(chan struct{})}
	go func() {
		_ = process.Wait() // holder.status tells how it has ended
		close(h.ended)
	}()
	return h, nil
}

// startOn starts sdm with some words on another host, by a remote shell (nil: ssh), connected to its standard input and
// output. with sets what else the shell gets.
func startOn(shell []string, host string, words []string, with func(*exec.Cmd)) (*holder, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if len(shell) == 0 {
		shell = ssh.Default()
	}
	argv := ssh.Argv(shell, host, ssh.QuoteAll(append([]string{self}, words...)))
	process := exec.Command(argv[0], argv[1:]...)
	with(process)
	return startConnected(process, func(theirs *os.File) { process.Stdin, process.Stdout = theirs, theirs })
}
