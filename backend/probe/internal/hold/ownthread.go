// A thread of this program that ends.

package hold

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// onOwnThread calls f on a thread of the operating system that ends afterwards, and returns its number.
func onOwnThread(f func()) (tid int) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // it is not unlocked, so that the thread ends with the goroutine
		if tid = unix.Gettid(); tid == unix.Getpid() {
			tid = onOwnThread(f) // the first thread never ends; it is locked here, so that f gets another one
			runtime.UnlockOSThread()
			return
		}
		f()
	}()
	<-done
	return tid
}

// longestEnd bounds the wait for the end of the thread of onOwnThread.
const longestEnd = time.Second

// awaitEnd waits until a thread of this process has ended.
func awaitEnd(tid int) {
	for begin := time.Now(); unix.Tgkill(unix.Getpid(), tid, 0) == nil && time.Since(begin) < longestEnd; {
		rest := unix.NsecToTimespec(int64(pollEach))
		_ = unix.Nanosleep(&rest, nil)
	}
}
