package python

import "testing"

// TestHolder asks which thread holds the lock that another would wait for, with two interpreters.
func TestHolder(t *testing.T) {
	s := &Snapshot{Threads: []Thread{
		{Pointer: 10, lock: 1}, {Pointer: 20, lock: 1, HasLock: true}, {Pointer: 30, lock: 2}, {Pointer: 40, lock: 3, HasLock: true},
	}}
	for pointer, want := range map[uint64]uint64{10: 20, 20: 0, 30: 0, 40: 0, 50: 0, 0: 0} {
		if got := s.Holder(pointer); got != want {
			t.Errorf("for thread %d: %d, want %d", pointer, got, want)
		}
	}
}
