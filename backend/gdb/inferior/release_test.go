package inferior

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// sleeper starts a process that sleeps.
func sleeper(t *testing.T) *Process {
	t.Helper()
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := Open(cmd.Process.Pid)
	t.Cleanup(func() {
		p.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return p
}

// becomes waits until a process is stopped, or until it is not.
func becomes(t *testing.T, p *Process, frozen bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); p.Frozen() != frozen; {
		if time.Now().After(end) {
			t.Fatalf("stopped: %t", p.Frozen())
		}
	}
}

func TestUndo(t *testing.T) {
	p := sleeper(t)
	p.Signal(syscall.SIGSTOP)
	becomes(t, p, true)
	if err := p.Undo(true, false); err != nil || !p.Frozen() {
		t.Errorf("a process that was stopped before: %v, stopped: %t", err, p.Frozen())
	}
	if err := p.Undo(false, false); err != nil {
		t.Error(err)
	}
	becomes(t, p, false)
}

func TestSettle(t *testing.T) {
	p := sleeper(t)
	p.Signal(syscall.SIGSTOP) // it may still be pending
	p.ContinueDetached(false)
	becomes(t, p, false)
	p.Signal(syscall.SIGSTOP)
	becomes(t, p, true)
	p.ContinueDetached(true)
	if !p.Frozen() {
		t.Error("a process that was stopped before runs")
	}
}

func TestBorn(t *testing.T) {
	p := sleeper(t)
	if a, b := StartTime(p.PID()), StartTime(1); a <= b {
		t.Errorf("started at %d, init at %d", a, b)
	}
	if at := StartTime(1 << 30); at != 0 {
		t.Errorf("a process that cannot be was started at %d", at)
	}
}

// TestEndProcessGroup leaves a stopped child, like a gdb that is killed at its start.
func TestEndProcessGroup(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 100 & echo $!; kill -STOP $!; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leader := Open(cmd.Process.Pid)
	defer leader.Close()
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	child := Open(pid)
	defer child.Close()
	becomes(t, child, true)
	cmd.Process.Kill()
	cmd.Wait()
	leader.EndProcessGroup()
	if !child.AwaitEnd(10_000) {
		t.Error("the child lives")
	}
}
