package hold

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// TestNoSignalsOfStops checks that stops of threads signal nothing, and that the end of a child does.
func TestNoSignalsOfStops(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill() }()
	Together([]int{child.Process.Pid}, Defaults, Steps{StackEnd: func(int, uint64) uint64 { return 0 }})
	came := make(chan os.Signal, 100)
	signal.Notify(came, syscall.SIGCHLD)
	defer signal.Stop(came)
	for range 50 {
		if p := Together([]int{child.Process.Pid}, Defaults, Steps{StackEnd: func(int, uint64) uint64 { return 0 }})[0]; p.Held == 0 || len(p.Threads) != 1 {
			t.Fatalf("%+v", p)
		}
	}
	if n := len(came); n > 0 {
		t.Errorf("%d signals", n)
	}
	_ = child.Process.Kill()
	select {
	case <-came:
	case <-time.After(10 * time.Second):
		t.Error("no signal of the end")
	}
	_ = child.Wait()
}
