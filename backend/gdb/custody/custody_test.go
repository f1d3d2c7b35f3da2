package custody

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sdm/backend/gdb/inferior"
)

func TestMain(m *testing.M) {
	Main(os.Args)
	goleak.VerifyTestMain(m)
}

// start starts a process that sleeps, in a process group of its own.
func start(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "100")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// becomes waits until a process is stopped by a signal, or until it is not.
func becomes(t *testing.T, pid int, stopped bool) {
	t.Helper()
	p := inferior.Open(pid)
	defer p.Close()
	for end := time.Now().Add(10 * time.Second); p.Frozen() != stopped; {
		if time.Now().After(end) {
			t.Fatalf("process %d is stopped: %t", pid, p.Frozen())
		}
	}
}

// stop leaves a process stopped, as a debugger does that is killed while it attaches.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	becomes(t, pid, true)
}

// TestServerIsKilled ends the pipe while the custodian knows processes. Those that were stopped
// before stay stopped, those that were forgotten too, the others continue, and a gdb that does not
// end by itself is killed.
func TestServerIsKilled(t *testing.T) {
	attached, before, forgotten, debugger := start(t), start(t), start(t), start(t)
	c := New(func(err error) { t.Error(err) })
	c.Process(attached.Process.Pid, false)
	c.Process(forgotten.Process.Pid, false)
	stop(t, before.Process.Pid)
	c.Process(before.Process.Pid, true)
	c.Debugger(debugger.Process.Pid)
	c.Forget(forgotten.Process.Pid)
	stop(t, attached.Process.Pid)
	stop(t, forgotten.Process.Pid)
	c.Close()
	becomes(t, attached.Process.Pid, false)
	becomes(t, before.Process.Pid, true)
	becomes(t, forgotten.Process.Pid, true)
	if err := debugger.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the gdb that does not end: %v", err)
	}
}

// TestCustodianIsKilled checks that a new custodian process knows all that the first one knew.
func TestCustodianIsKilled(t *testing.T) {
	attached := start(t)
	c := New(func(err error) { t.Error(err) })
	c.Process(attached.Process.Pid, false)
	stop(t, attached.Process.Pid)
	c.mu.Lock()
	first := c.cmd
	c.mu.Unlock()
	first.Process.Kill()
	for again := false; !again; {
		c.mu.Lock()
		again = c.cmd != first
		c.mu.Unlock()
	}
	c.Close()
	becomes(t, attached.Process.Pid, false)
}

// TestNothingIsKnown checks that no process is started.
func TestNothingIsKnown(t *testing.T) {
	c := New(nil)
	c.Forget(os.Getpid())
	c.Process(1<<30, false) // there is no such process
	c.Close()
	if c.started != 0 {
		t.Errorf("%d custodians were started", c.started)
	}
}

// TestPrepare checks that a process that was started before is the one that is told, and that it ends.
func TestPrepare(t *testing.T) {
	c := New(func(err error) { t.Error(err) })
	c.Prepare()
	for prepared := false; !prepared; {
		c.mu.Lock()
		prepared = c.cmd != nil
		c.mu.Unlock()
	}
	attached := start(t)
	c.Process(attached.Process.Pid, false)
	stop(t, attached.Process.Pid)
	c.Close()
	becomes(t, attached.Process.Pid, false)
	c.Prepare() // after the end: nothing is started
	c.waiting.Wait()
	if c.started != 1 {
		t.Errorf("%d custodians were started", c.started)
	}
}

func TestOrders(t *testing.T) {
	for _, o := range []order{{processVerb, 17, 99}, {stoppedVerb, 2, 1}, {debuggerVerb, 4711, 1 << 40}, {forgetVerb, 17, 0}} {
		if got, ok := parseOrder(o.line()); !ok || got != o {
			t.Errorf("%q is read as %v, %t", o.line(), got, ok)
		}
	}
	for _, line := range []string{"", "\n", "process 17 99", "process 1 9\n", "process -4 9\n", "process 17\n", "kill 17 9\n", "process 17 9 9\n", "process x 9\n"} {
		if o, ok := parseOrder(line); ok {
			t.Errorf("%q is read as %v", line, o)
		}
	}
}

func FuzzOrder(f *testing.F) {
	f.Add("process 17 99\n")
	f.Add("forget " + strconv.Itoa(1<<20) + " 0\n")
	f.Fuzz(func(t *testing.T, line string) {
		if o, ok := parseOrder(line); ok {
			if again, ok := parseOrder(o.line()); !ok || again != o {
				t.Errorf("%q is %v, then %v", line, o, again)
			}
		}
	})
}
