package reaper

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) {
	Main(os.Args) // this program is the reaper, too
	os.Exit(m.Run())
}

func start(t *testing.T, script string) (c *Command, ready string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err = Start([]string{"sh", "-c", script}, os.Stdin, w, os.Stderr)
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, _ := r.Read(b)
	return c, strings.TrimSpace(string(b[:n]))
}

// TestEnd ends a tree with a process that ignores SIGTERM and has left for a session of its own, and whose parent has
// ended.
func TestEnd(t *testing.T) {
	c, pid := start(t, `(setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1000; done' &) ; sleep 1000`)
	count, left, proved := c.End(0)
	if !proved || len(left) > 0 || count < 3 {
		t.Errorf("%d processes, left are %v, proved: %v", count, left, proved)
	}
	if _, err := os.Stat("/proc/" + pid); pid == "" || err == nil {
		t.Errorf("process %q is left", pid)
	}
	if status, known := c.Status(); !known || status.Signal() != syscall.SIGTERM {
		t.Errorf("its status is %v, known: %v", status, known)
	}
}

// TestRelease: what is left of a command that has ended runs on, and its status is that of the command.
func TestRelease(t *testing.T) {
	c, pid := start(t, `(setsid sleep 1000 & echo $!); exit 7`)
	<-c.Done
	if status, known := c.Status(); !known || status.ExitStatus() != 7 {
		t.Errorf("its status is %v, known: %v", status, known)
	}
	c.Release()
	if err := exec.Command("kill", pid).Run(); err != nil {
		t.Errorf("process %q: %v", pid, err)
	}
	if _, err := Start([]string{"./nosuch"}, nil, nil, nil); err == nil {
		t.Error("a program that is not there has started")
	}
}

func TestParseStat(t *testing.T) {
	p, ok := parseStat("12 (a) b (c)) D 7 12 12 0")
	if !ok || p.Name != "a) b (c)" || p.State != "D" || p.parent != 7 {
		t.Errorf("%+v, %v", p, ok)
	}
	for _, text := range []string{"", "12", "12 (x", "12 )x(", "12 (x) D", "12 (x) D y"} {
		if p, ok := parseStat(text); ok {
			t.Errorf("%q: %+v", text, p)
		}
	}
}
