// Starting the process of a session.

package main

import (
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// startHolder starts the process of a session with our arguments, connected to it.
func (a *app) startHolder() (net.Conn, *exec.Cmd, error) {
	return startHolder(a.args, func(process *exec.Cmd) {
		process.Stdout, process.Stderr, process.Env = a.stdout, a.stderr, a.env
	})
}

// startHolder starts the process of a session with some arguments, connected to it. with sets its streams and its
// environment.
func startHolder(args []string, with func(*exec.Cmd)) (net.Conn, *exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	process := exec.Command(self, append([]string{holdSubcommand}, args...)...)
	process.Args[0] = "sdm"
	with(process)
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	conn, err := startConnected(process, func(theirs *os.File) { process.ExtraFiles = []*os.File{theirs} }) // firstFD
	return conn, process, err
}

// startConnected starts a process with one end of a pair of sockets, which give hands to it, and returns the other.
func startConnected(process *exec.Cmd, give func(theirs *os.File)) (net.Conn, error) {
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
	return conn, nil
}
