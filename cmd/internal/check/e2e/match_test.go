package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// container is a host of a test: processes and mounts of its own, in which the program of some
// processes is a file that does not exist outside, and inside has been deleted, or replaced by another one.
const container = `set -e
mkdir -p "$1/mnt"
mount -t tmpfs none "$1/mnt"
cp "$2" "$1/mnt/spin"
"$1/mnt/spin" epoch 1 & "$1/mnt/spin" -v epoch 2 & "$1/mnt/spin" other &
sleep 0.1
if [ "$3" = deleted ]; then rm "$1/mnt/spin"; else cp /bin/sh "$1/mnt/new"; mv "$1/mnt/new" "$1/mnt/spin"; fi
wait
`

// TestMatch finds processes by their command lines on two hosts without a starter, each with its
// own process ids and mounts, and reads their stacks from inside and from outside.
func TestMatch(t *testing.T) {
	t.Parallel()
	if out, err := exec.Command("unshare", "--pid", "--mount", "--fork", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("no containers: %v: %s", err, out)
	}
	s := newScene(t)
	shell := s.file("rsh", "#!/bin/sh\nhost=$1; shift\nexec nsenter -t \"$(cat "+s.dir+"/$host)\" -p -m sh -c \"$*\"\n", 0o755)
	inside := s.file("inside", container, 0o644)
	for _, file := range []string{"deleted", "replaced"} {
		s.start("unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc", "sh", inside, s.dir, program("spin"), file)
	}
	var shells []proc
	s.eventually(patience, func() string {
		if shells = s.named("sh"); len(shells) != 2 || len(s.named("spin")) != 6 {
			return fmt.Sprintf("there are %v", s.found())
		}
		return ""
	})
	for i, sh := range shells {
		s.file("n"+strconv.Itoa(i+1), strconv.Itoa(sh.pid), 0o644)
	}
	there := []string{"--remote-shell", shell, "--hosts", "n2,n1"}
	front := &console{process: s.start("sdm", append([]string{"stacks", "--match", "spin epoch"}, there...)...), size: 4}
	front.exits(0)
	front.says("[0-3] (4) main spin.c:")
	front = &console{process: s.start("sdm", append([]string{"attach", "--lazy", "-b", "-e", "ranks", "-e", "info hosts", "--match", "sp?n epoch 2"}, there...)...), size: 2}
	front.exits(0)
	front.says("[0-1] watched", "n1", "n2")
	none := s.start("sdm", append([]string{"stacks", "--match", "spin epoch 3"}, there...)...)
	none.exits(3)
	none.says(`no process matches "spin epoch 3" on n1, n2`)

	var outside []string
	for _, p := range s.named("spin") {
		outside = append(outside, strconv.Itoa(p.pid))
	}
	front = &console{process: s.start("sdm", "stacks", "pids:"+strings.Join(outside, ",")), size: 6}
	front.exits(0)
	front.says("[0-5] (6) main spin.c:")
	for _, sh := range shells {
		syscall.Kill(sh.pid, syscall.SIGKILL) // with all in its namespace
	}
}

// TestStacksAsAnOrdinaryUser checks that one's own processes can be read without root, and that a
// line says why other users' cannot.
func TestStacksAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the test becomes another user")
	}
	s := newScene(t)
	open := filepath.Join(s.dir, "open")
	for _, dir := range []string{s.dir, open} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sdm", "sdm-server", "spin"} {
		if err := os.Link(program(name), filepath.Join(open, name)); err != nil {
			t.Skip(err)
		}
	}
	as := func(args ...string) *process {
		return s.start("setpriv", append([]string{"--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/", "TMPDIR=/tmp"}, args...)...)
	}
	own, roots := as(filepath.Join(open, "spin")), s.start(program("spin"))
	s.eventually(patience, func() string {
		if n := len(s.named("spin")); n != 2 {
			return fmt.Sprintf("%d processes", n)
		}
		return ""
	})
	scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	front := &console{process: as(filepath.Join(open, "sdm"), "stacks", fmt.Sprintf("pids:%d,%d", own.cmd.Process.Pid, roots.cmd.Process.Pid)), size: 2}
	front.exits(1)
	if text := strings.TrimSpace(string(scope)); text == "" || text == "0" {
		front.says("[0] (1) main spin.c:")
	} else {
		front.says("ptrace_scope is " + text)
	}
	front.says(fmt.Sprintf("[1] stacks: process %d may not be read (it is another user's", roots.cmd.Process.Pid))
	own.signal(syscall.SIGKILL)
	roots.signal(syscall.SIGKILL)
}
