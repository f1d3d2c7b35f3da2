package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long processes that were told to end may take before they count as left behind.
const patience = 20 * time.Second

// leftBehind kills the processes that a script has left and returns a list of them. It finds them
// by the script's directory in their environment or working directory.
func leftBehind(dir string) string {
	var b strings.Builder
	for _, pid := range processesOf(dir) {
		if ended(pid) {
			continue
		}
		words, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
		fmt.Fprintf(&b, "%d %s\n", pid, bytes.ReplaceAll(words, []byte{0}, []byte{' '}))
		unix.Kill(pid, unix.SIGKILL)
	}
	return b.String()
}

func processesOf(dir string) []int {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var found []int
	for _, at := range all {
		env, _ := os.ReadFile(at + "/environ") // empty for a zombie
		cwd, _ := os.Readlink(at + "/cwd")
		pid, _ := strconv.Atoi(filepath.Base(at))
		if pid != os.Getpid() && (bytes.Contains(env, []byte(dir)) || strings.HasPrefix(cwd, dir)) {
			found = append(found, pid)
		}
	}
	return found
}

// ended waits for a process that is not our child, and reports whether it has ended.
func ended(pid int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return true
	}
	defer unix.Close(fd)
	for end := time.Now().Add(patience); ; {
		rest := int(time.Until(end).Milliseconds())
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, max(0, rest))
		if err != unix.EINTR {
			return n > 0
		}
	}
}
