// The process that ends a starter if this process is killed.

package mpir

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// KeeperName is the name of the process in ps. It has another prefix than the names of sdm's
// programs, so that a kill of those by name does not kill it with them.
const KeeperName = "starter-keeper"

// keeperFlag as first argument makes this program a keeper.
const keeperFlag = "--starter-keeper"

// keeperTime is how long a starter may take to end its job and to clean up before it is killed.
const keeperTime = 10 * time.Second

// keeper is a small process in a session of its own. It reads the starter's process id from a pipe
// and then waits. If the pipe ends without another message, this process was killed, and the
// keeper removes the breakpoint, at which the starter would die, and sends the starter one SIGTERM. A
// parent-death signal is not suitable: when this process
// ends it is sent again for each thread that becomes the parent for a moment, and on a second
// SIGTERM Open MPI's starter exits without cleaning up.
type keeper struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// startKeeper starts a keeper that has no starter yet.
func startKeeper() (*keeper, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	k := &keeper{cmd: exec.Command("/proc/self/exe"), pipe: w}
	k.cmd.Args = []string{KeeperName, keeperFlag}
	k.cmd.Env = []string{"GOMAXPROCS=1"}
	k.cmd.Dir = "/"
	k.cmd.Stdin = r
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := k.cmd.Start(); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the keeper of the starter: %w", err)
	}
	return k, nil
}

// setStarter sends the keeper the process id of the starter.
func (k *keeper) setStarter(pid int) { fmt.Fprintln(k.pipe, pid) }

// setBreakpoint sends the keeper, in addition, the breakpoint of the starter.
func (k *keeper) setBreakpoint(pid int, b breakpoint) {
	fmt.Fprintf(k.pipe, "%d %x %x\n", pid, b.addr, b.old)
}

// dismiss ends the keeper: the starter has ended.
func (k *keeper) dismiss() {
	fmt.Fprintln(k.pipe, 0)
	k.pipe.Close()
	k.cmd.Wait()
}

// KeeperMain turns this process into a keeper if the arguments say so; otherwise it returns at
// once. Programs that own a Launch call it first in main, tests in TestMain.
func KeeperMain(args []string) {
	if len(args) != 2 || args[0] != KeeperName || args[1] != keeperFlag {
		return
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	os.WriteFile("/proc/self/comm", []byte(KeeperName), 0) // name of the whole process (proc(5))
	keep(bufio.NewScanner(os.Stdin))
	os.Exit(0)
}

// keep reads the process id of the starter, and then also its breakpoint, and ends the starter when the
// pipe ends. If it reads 0 before, the starter has ended, and keep returns.
func keep(lines *bufio.Scanner) {
	pid, fd := 0, -1
	var at breakpoint
	for lines.Scan() {
		var err error
		if n, _ := fmt.Sscanf(lines.Text(), "%d %x %x", &pid, &at.addr, &at.old); n == 0 || pid <= 1 {
			return
		}
		if fd >= 0 {
			continue
		}
		if fd, err = unix.PidfdOpen(pid, 0); err != nil {
			return // the starter has ended
		}
	}
	if fd < 0 || ended(fd, 0) {
		return
	}
	if at.addr != 0 {
		at.remove(pid) // an error means that the kernel forbids it: the starter ends by SIGTERM or at the breakpoint
	}
	syscall.Kill(-pid, syscall.SIGTERM)            // the starter leads a process group
	unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0) // it may have stopped where it was traced
	if !ended(fd, keeperTime) {
		syscall.Kill(-pid, syscall.SIGKILL)
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// ended waits for the end of a process for at most wait, and reports whether it has ended.
func ended(pidfd int, wait time.Duration) bool {
	deadline := time.Now().Add(wait)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}},
			max(int(time.Until(deadline).Milliseconds()), 0))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}
