package pmix

import (
	"os"
	"os/exec"
	"testing"
)

// TestStopAfterTheEnd: another process may have the number of a starter that has ended.
func TestStopAfterTheEnd(t *testing.T) {
	other := exec.Command("sleep", "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer other.Wait()
	defer other.Process.Kill()
	s := &toolStarter{pid: other.Process.Pid, done: make(chan struct{})}
	close(s.done)
	s.Stop()
	spec := StarterSpec{Argv: []string{"true"}, Env: os.Environ()}
	ended, err := spec.start()
	if err != nil {
		t.Fatal(err)
	}
	ended.Status()
	ended.cmd.Process.Pid = other.Process.Pid
	ended.Stop()
	if err := other.Process.Kill(); err != nil { // it has not been waited for, so it is there
		t.Fatal(err)
	}
	if err := other.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the other process: %v", err)
	}
}
