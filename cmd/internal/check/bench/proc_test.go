package main

import (
	"runtime"
	"testing"
	"time"
)

// TestTimeOfEndedThreads checks that the processor time of a thread counts after it has ended.
func TestTimeOfEndedThreads(t *testing.T) {
	const work = 50 * time.Millisecond // of processor time
	before := ownTime()
	done := make(chan struct{})
	go func() {
		runtime.LockOSThread() // it is not unlocked, so that the thread ends with the goroutine
		defer close(done)
		for ownTime()-before < work {
			continue
		}
	}()
	<-done
	again := make(chan struct{})
	go func() { // another thread may be started in its place
		runtime.LockOSThread()
		close(again)
	}()
	<-again
	if used := ownTime() - before; used < work {
		t.Errorf("%v, want at least %v", used, work)
	}
}
