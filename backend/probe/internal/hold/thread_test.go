package hold

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOwnThread checks that what is done on a thread of its own is never done on the first one, which
// Go keeps: threads that it still traces would stay traced.
func TestOwnThread(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for range 200 {
		var on int
		tid := onOwnThread(func() { on = unix.Gettid() })
		if on != tid || tid == unix.Getpid() {
			t.Fatalf("on %d, said to be on %d, of process %d", on, tid, unix.Getpid())
		}
		awaitEnd(tid)
		if err := unix.Tgkill(unix.Getpid(), tid, 0); err != unix.ESRCH {
			t.Fatalf("the thread is there still: %v", err)
		}
	}
}
