package job

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestStartedByAnyThread has a child that another thread than the first has started: its parent may be a
// program that calls a starter, and is no rank.
func TestStartedByAnyThread(t *testing.T) {
	self := Started{PID: os.Getpid()}
	target, pids := self.Target(time.Now())
	if len(pids) != 1 || pids[0] != self.PID {
		t.Fatalf("without a child it is %q, %v", target, pids)
	}
	current := self.Current(pids)
	if !current() {
		t.Error("without a child it is no rank any more")
	}
	onOtherThread(func() {
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			t.Error(err)
			return
		}
		if target, pids := self.Target(time.Now()); target != "" || pids != nil {
			t.Errorf("with a child it is %q, %v", target, pids)
		}
		if current() {
			t.Error("with a child it is a rank still")
		}
		child.Process.Kill()
		child.Wait() // its error is the signal
	})
}

// onOtherThread calls a function on a thread that is not the first of this process.
func onOtherThread(f func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if unix.Gettid() == os.Getpid() { // it stays occupied
			onOtherThread(f)
			return
		}
		f()
	}()
	<-done
}
