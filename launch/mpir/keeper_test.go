package mpir

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"testing"
)

// killedVar makes the test binary a process that launches the starter of this path and is to be killed.
const killedVar = "MPIR_TEST_KILLED"

// launchAndWait launches a starter that does not come to its breakpoint.
func launchAndWait(starter string) {
	l := New(Spec{Argv: []string{starter, "late"}, Stdout: os.Stdout, Names: starterNames})
	l.Acquire(context.Background(), func(string) {})
}

// TestStarterCleansUpAfterUs kills the process that has set a breakpoint in a starter. The starter
// passes the place of the breakpoint when it cleans up.
func TestStarterCleansUpAfterUs(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedVar+"="+compile(t, "starter", starterSource))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, want := range []string{"debugged 1", "cleaned up"} {
		if !lines.Scan() || lines.Text() != want {
			t.Errorf("the starter says %q, want %q", lines.Text(), want)
		}
		cmd.Process.Kill() // a second time it does nothing
	}
	cmd.Wait() // its error is the signal
}
