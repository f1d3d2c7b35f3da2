package local

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// play starts the test binary in a role.
func play(t *testing.T, role string, extra ...*os.File) (*exec.Cmd, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0")
	cmd.Stdout = w
	cmd.Stderr = os.Stderr
	cmd.ExtraFiles = extra
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { r.Close() })
	return cmd, r
}

func TestKilledForkerLeavesNoRank(t *testing.T) {
	cmd, out := play(t, "holder")
	var direct, shim int
	if _, err := fmt.Fscan(out, &direct, &shim); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{direct, shim} {
		if got := status(pid, "State"); !strings.HasPrefix(got, "T") {
			t.Errorf("rank %d is in state %q", pid, got)
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	waitGone(t, direct)
	waitGone(t, shim)
}

func TestInherited(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	cmd, out := play(t, "inherited", r, w, r)
	text, _ := io.ReadAll(out)
	cmd.Wait()
	if got := string(text); got != "[3 5] [] true <nil>\n[] <nil>\n" {
		t.Errorf("found %q, want 3 and 5, ours (4) left out, nothing the second time, and the highest closed; nothing above the limit, and a rank that starts", got)
	}
}
