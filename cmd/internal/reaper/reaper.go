// Package reaper starts a command below a process that adopts its orphans, so that no descendant of it is lost, and
// ends them all.
package reaper

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/startup"
)

// flag as first argument makes this program a reaper. The arguments after it are the path of a program and its words.
const flag = "--watch-reaper"

// File descriptors of a reaper: it writes what happens, one line each, and ends when the other pipe does.
const (
	reportFD  = 3
	controlFD = 4
)

// Words of the reports.
const (
	wordPID    = "pid"    // of the command
	wordError  = "error"  // why it was not started
	wordStatus = "status" // of its end, as wait4(2) gives it
)

// discarded are the signals that a terminal or a batch system may send to the reaper as well as to the command.
var discarded = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGXCPU, syscall.SIGPWR}

// Main is the main function of a reaper if the arguments say so, and then does not return.
//
// Orphans among the descendants become children of the reaper (prctl(2), PR_SET_CHILD_SUBREAPER). So it has no child
// only if no descendant is left: then it ends. It also ends when its parent does: the descendants run on.
//
// Goroutine: one that reads the pipe of the parent until this process ends.
func Main(args []string) {
	if len(args) < 4 || args[1] != flag {
		return
	}
	startup.KeepIgnored()
	startup.Notify(make(chan os.Signal, 1), discarded...)
	unix.CloseOnExec(reportFD)
	unix.CloseOnExec(controlFD)
	report, control := os.NewFile(reportFD, "report"), os.NewFile(controlFD, "control")
	err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	var p *os.Process
	if err == nil {
		p, err = os.StartProcess(args[2], args[3:], &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	}
	if err != nil {
		fmt.Fprintln(report, wordError, strings.ReplaceAll(err.Error(), "\n", " "))
		os.Exit(1)
	}
	fmt.Fprintln(report, wordPID, p.Pid)
	go func() {
		_, _ = control.Read(make([]byte, 1))
		os.Exit(0)
	}()
	for {
		var status syscall.WaitStatus
		switch pid, err := syscall.Wait4(-1, &status, 0, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD: no descendant is left
			os.Exit(0)
		case pid == p.Pid:
			fmt.Fprintln(report, wordStatus, uint32(status))
		}
	}
}

// Command is a command that runs below a reaper.
//
// Goroutine: one that reads the reports until the reaper has ended.
type Command struct {
	// Process is the command itself.
	Process *os.Process
	// Done is closed when the command has ended.
	Done <-chan struct{}
	// Gone is closed when its reaper has ended: no descendant is left, unless Release was called.
	Gone <-chan struct{}

	cmd     *exec.Cmd
	control *os.File
	status  syscall.WaitStatus // once Done is closed
	known   bool
	clean   bool // once Gone is closed: the reaper has ended by itself
}

// Start starts a command with our environment and these standard streams, in our process group.
func Start(line []string, stdin, stdout, stderr *os.File) (*Command, error) {
	path, err := exec.LookPath(line[0])
	if err != nil {
		return nil, err
	}
	report, toUs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	control, ours, err := os.Pipe()
	if err != nil {
		report.Close()
		toUs.Close()
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe", append([]string{flag, path}, line...)...)
	cmd.Args[0] = "sdm-reaper"
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = stdin, stdout, stderr, []*os.File{toUs, control}
	err = cmd.Start()
	toUs.Close()
	control.Close()
	if err != nil {
		report.Close()
		ours.Close()
		return nil, err
	}
	lines := bufio.NewScanner(report)
	c := &Command{cmd: cmd, control: ours}
	if err := c.begin(lines); err != nil {
		report.Close()
		ours.Close()
		_ = cmd.Wait() // it has ended
		return nil, err
	}
	done, gone := make(chan struct{}), make(chan struct{})
	c.Done, c.Gone = done, gone
	go func() {
		defer close(gone)
		defer report.Close()
		c.read(lines)
		close(done)
		c.clean = cmd.Wait() == nil
	}()
	return c, nil
}

// begin reads the first report.
func (c *Command) begin(lines *bufio.Scanner) error {
	lines.Scan()
	word, text, _ := strings.Cut(lines.Text(), " ")
	pid, err := strconv.Atoi(text)
	switch {
	case word == wordError:
		return errors.New(text)
	case word != wordPID || err != nil:
		return errors.New("the process that is to start it has ended")
	}
	c.Process, err = os.FindProcess(pid)
	return err
}

// read reads the status of the command. If its reaper is killed, that is not known.
func (c *Command) read(lines *bufio.Scanner) {
	for lines.Scan() {
		if word, text, _ := strings.Cut(lines.Text(), " "); word == wordStatus {
			if n, err := strconv.ParseUint(text, 10, 32); err == nil {
				c.status, c.known = syscall.WaitStatus(n), true
				return
			}
		}
	}
}

// Status returns how the command has ended, once Done is closed; known is false if its reaper was killed.
func (c *Command) Status() (status syscall.WaitStatus, known bool) { return c.status, c.known }

// Release ends the reaper. The descendants that are left run on, without it.
func (c *Command) Release() {
	c.control.Close()
	<-c.Gone
}

// How long End waits: between leastGrace and restGrace for the answer to SIGTERM of what the command has left, and for
// the kernel after SIGKILL.
const (
	leastGrace = 2 * time.Second
	restGrace  = 5 * time.Second
	killWait   = 10 * time.Second
	lookAgain  = 50 * time.Millisecond
)

// End ends the command and all its descendants on this host: the command gets SIGTERM, after its end all others do,
// and SIGKILL what has not ended in that time. It returns how many there were at most, and what is left. proved: the
// kernel has said that nothing is.
func (c *Command) End(grace time.Duration) (count int, left []Left, proved bool) {
	count = len(below(c.cmd.Process.Pid))
	until := time.Now().Add(grace)
	_ = c.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	c.await(c.Done, grace)
	if !c.await(c.Gone, lookAgain) {
		count = max(count, c.signal(syscall.SIGTERM))
		c.await(c.Gone, min(max(time.Until(until), leastGrace), restGrace))
	}
	for late := time.Now().Add(killWait); !c.await(c.Gone, lookAgain) && time.Now().Before(late); {
		for stopped := -1; ; { // so that none starts others meanwhile
			n := c.signal(syscall.SIGSTOP)
			if n <= stopped {
				break
			}
			stopped = n
		}
		count = max(count, c.signal(syscall.SIGKILL))
	}
	if c.await(c.Gone, 0) {
		return count, nil, c.clean
	}
	return count, below(c.cmd.Process.Pid), false
}

// await waits for a channel to be closed, for a time at most, and reports whether it is.
func (c *Command) await(closed <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-closed:
		return true
	case <-t.C:
	}
	select {
	case <-closed:
		return true
	default:
		return false
	}
}

// signal sends a signal to all descendants, and returns how many there are. A number is looked at again once the
// process that has it is held by a pidfd: it may have come to another process since the list was read.
func (c *Command) signal(s syscall.Signal) (count int) {
	for _, p := range below(c.cmd.Process.Pid) {
		fd, err := unix.PidfdOpen(p.PID, 0)
		if err != nil {
			continue // it has ended
		}
		if isBelow(p.PID, c.cmd.Process.Pid) {
			count++
			_ = unix.PidfdSendSignal(fd, s, nil, 0) // of another user: it is left, which is told
		}
		unix.Close(fd)
	}
	return count
}
