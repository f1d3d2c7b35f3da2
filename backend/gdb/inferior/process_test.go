package inferior

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// TestDead checks a process that has ended but has not been waited for, one that runs, and one
// that cannot be inspected.
func TestDead(t *testing.T) {
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := Open(cmd.Process.Pid)
	defer p.Close()
	self := Open(os.Getpid())
	defer self.Close()
	if p.Dead() || self.Dead() {
		t.Error("a running process is dead")
	}
	in.Close() // it ends, and is not waited for
	late := time.After(time.Minute)
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for !p.Dead() {
		select {
		case <-again.C:
		case <-late:
			t.Fatal("a process that has ended is not dead")
		}
	}
	cmd.Wait()
	if p.Dead() {
		t.Error("a process that is not there any more is taken for one that gdb has missed")
	}
}
