// Threads that wait for the lock of their interpreter (GIL).

package python

import (
	"slices"

	"sdm/protocol/digest"
)

// maxLock bounds the size of a lock (struct _gil_runtime_state) in bytes: it has two mutexes and two condition
// variables.
const maxLock = 256

// LockAt reports whether a word in memory, for which a thread waits, is a part of the lock of an interpreter. holder is
// the Thread.Pointer of the thread that holds this lock; 0: none does, or it is not known. Up to 3.11 the lock is in
// _PyRuntime, before the field that says which thread holds it.
func (in *Interpreter) LockAt(s *Snapshot, addr uint64) (holder uint64, ok bool) {
	for i := range s.Threads {
		t := &s.Threads[i]
		from, size := t.lock, uint64(maxLock)
		if current := in.layout.current; current != 0 {
			from, size = in.runtime, current
		}
		if from == 0 || addr < from || addr-from >= size {
			continue
		}
		if ok = true; t.HasLock {
			holder = t.Pointer
		}
	}
	return holder, ok
}

// Holder returns the Thread.Pointer of the thread that holds the lock for which the thread of pointer would wait; 0: it
// holds that itself, or no thread does, or the threads are not known.
func (s *Snapshot) Holder(pointer uint64) uint64 {
	i := slices.IndexFunc(s.Threads, func(t Thread) bool { return t.Pointer == pointer && pointer != 0 })
	if i < 0 || s.Threads[i].HasLock {
		return 0
	}
	for k := range s.Threads {
		if t := &s.Threads[k]; t.HasLock && t.lock == s.Threads[i].lock {
			return t.Pointer
		}
	}
	return 0
}

// Position returns a hash of the functions and instructions of the Python frames of a thread.
func (t *Thread) Position() uint64 {
	hash := digest.New()
	var b [16]byte
	for _, c := range t.Calls {
		for _, f := range c.Frames {
			le.PutUint64(b[:], f.code)
			le.PutUint64(b[8:], uint64(f.at))
			hash.Add(b[:])
		}
	}
	return hash.Sum()
}
