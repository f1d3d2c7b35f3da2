package kernelcall

import "testing"

// TestNames: a function of the program is none of the C library, unless the program contains the C library.
func TestNames(t *testing.T) {
	for want, functions := range map[string][]string{
		"waits for another thread": {"syscall from libc.so.6", "pthread_mutex_lock"},
		"waits for a mutex":        {"__lll_lock_wait", "pthread_mutex_lock"},
		"waits for a semaphore":    {"__futex_abstimed_wait_common64 from libc.so.6", "sem_wait from libc.so.6", "sem_wait"},
	} {
		f := Futex{Call: Call{Number: FutexCall, Args: [6]uint64{1: private}}, Functions: functions, Exists: func(int) bool { return false }}
		if w, _ := f.Of(); w.Does != want {
			t.Errorf("%v: %s, want %s", functions, w.Does, want)
		}
	}
}
