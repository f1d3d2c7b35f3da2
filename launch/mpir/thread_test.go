package mpir

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOwnThread: a tracer waits for all children of its thread, so the thread must have no others.
func TestOwnThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan error)
	onOwnThread(func() {
		_, err := unix.Wait4(-1, nil, unix.WNOHANG|waitMine, nil)
		found <- err
	}, nil)
	if err := <-found; err != unix.ECHILD {
		t.Errorf("the thread has children: %v, want %v", err, unix.ECHILD)
	}
	child.Process.Kill()
	if err := child.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("the end of the child: %v", err)
	}
}
