// The process that ends a starter when we were killed.

package mpir

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// KeeperName is the name of the process for ps and its kin. It does not begin as our programs' do: who kills these by name
// must not kill it with them.
const KeeperName = "starter-keeper"

// keeperFlag as first argument makes our program a keeper.
const keeperFlag = "--starter-keeper"

// keeperTime is what a starter gets to end its job and to clean up, before it is killed.
const keeperTime = 10 * time.Second

// keeper is a small process of its own session that learns of the starter and waits at a pipe. When the pipe ends without a
// word, we were killed: then it tells the starter to end its job, once. A parent-death signal would not do: it is sent again
// for each thread of ours that is the parent for a moment while we end, and a second SIGTERM has Open MPI's starter leave
// without cleaning up.
type keeper struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// startKeeper starts one that knows of no starter yet.
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

// know tells it of the starter.
func (k *keeper) know(pid int) { fmt.Fprintln(k.pipe, pid) }

// dismiss ends it: the starter has ended.
func (k *keeper) dismiss() {
	fmt.Fprintln(k.pipe, 0)
	k.pipe.Close()
	k.cmd.Wait()
}

// KeeperMain turns this process into a keeper when the arguments say so, and otherwise returns at once. Programs that own a
// Launch call it first thing in main, tests in TestMain.
func KeeperMain(args []string) {
	if len(args) != 2 || args[0] != KeeperName || args[1] != keeperFlag {
		return
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	os.WriteFile("/proc/self/comm", []byte(KeeperName), 0) // proc(5): of the whole process
	keep(bufio.NewScanner(os.Stdin))
	os.Exit(0)
}

// keep reads which process the starter is, 0 for none, until our end, and then ends it.
func keep(lines *bufio.Scanner) {
	pid, fd := 0, -1
	for lines.Scan() {
		var err error
		if pid, err = strconv.Atoi(strings.TrimSpace(lines.Text())); err != nil || pid <= 1 {
			return
		}
		if fd, err = unix.PidfdOpen(pid, 0); err != nil {
			return // it has ended
		}
	}
	if fd < 0 || ended(fd, 0) {
		return
	}
	syscall.Kill(-pid, syscall.SIGTERM) // it leads a group
	if !ended(fd, keeperTime) {
		syscall.Kill(-pid, syscall.SIGKILL)
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}

// ended waits for the end of a process.
func ended(pidfd int, wait time.Duration) bool {
	late := time.Now().Add(wait)
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, max(int(time.Until(late).Milliseconds()), 0))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}
