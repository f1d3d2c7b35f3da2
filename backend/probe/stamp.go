// Hashes of what changes if a thread makes progress.

package probe

import (
	"encoding/binary"
	"slices"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/snapshot"
	"sdm/protocol/digest"
	"sdm/protocol/stack"
)

// maxStamped bounds the bytes of a stack that are looked at for a stamp.
const maxStamped = 1 << 20

// addNumber adds the bytes of a number to a hash.
func addNumber(hash digest.Running, v uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	hash.Add(b[:])
}

// saved are the registers, by their DWARF numbers, that functions must preserve (System V ABI, AMD64).
// Others do not have the values that they had in the function that called MPI.
var saved = map[uint64]bool{3: true, 6: true, 12: true, 13: true, 14: true, 15: true}

// result is the DWARF number of the register with the result of a system call on x86-64; elsewhere no call is known.
const result = 0

// stamp adds to a hash what changes if a thread makes progress: registers and stack. For a thread in MPI,
// whose call is at frame, those are of the function that called MPI and its callers only. Of the stack, what is at the
// addresses of except is left out, remainder bytes each. held is the same thread.
func stamp(hash digest.Running, shot *snapshot.Process, held *hold.Thread, t *snapshot.Thread, frame int, inMPI bool, except []uint64) {
	if len(t.Stack.Frames) == 0 {
		return
	}
	from, outer := t.Stack.Frames[0].SP, 0
	if inMPI {
		from, outer = t.Stack.Frames[frame].CFA, min(frame+1, len(t.Stack.Frames)-1)
	}
	add := func(v uint64) { addNumber(hash, v) }
	add(uint64(t.TID))
	add(t.Stack.Frames[outer].PC)
	registers := shot.RegistersAt(t, outer)
	for n := range uint64(cfi.MaxRegisters) {
		if n == result && outer == 0 && held.Call.Number != kernelcall.None {
			continue // it says only how the kernel restarts the call
		}
		if v, ok := registers.Get(n); ok && (!inMPI || saved[n]) {
			add(v)
		}
	}
	if s := &held.Stack; from >= s.Addr && from < s.Addr+uint64(len(s.Bytes)) {
		b := s.Bytes[from-s.Addr:]
		if t.Pointer > from && t.Pointer-from < uint64(len(b)) { // after it the kernel notes on which processor the thread runs (rseq(2))
			b = b[:t.Pointer-from]
		}
		addExcept(hash, b[:min(len(b), maxStamped)], from, except)
	}
}

// addExcept adds the bytes of a stack from an address on to a hash, without those at the addresses of except.
func addExcept(hash digest.Running, b []byte, from uint64, except []uint64) {
	at := 0
	for _, addr := range slices.Sorted(slices.Values(except)) {
		if addr < from+uint64(at) || addr >= from+uint64(len(b)) {
			continue
		}
		i := int(addr - from)
		hash.Add(b[at:i])
		at = min(i+remainder, len(b))
	}
	hash.Add(b[at:])
}

// stamp adds to a hash what changes if a thread makes progress that is not in MPI. A thread that waits for the lock of
// Python looks at the clock now and then, so its frames of Python count.
func (m *team) stamp(hash digest.Running, i int) {
	t := &m.shot.Threads[i]
	held := m.held[t.TID]
	switch {
	case m.python[i]:
		addNumber(hash, m.process.python.position(t.Pointer))
	case kernelcall.Sleeps(m.call(i)):
		stamp(hash, m.shot, held, t, 0, false, remainders(t))
	default:
		stamp(hash, m.shot, held, t, 0, false, nil)
	}
}

// stampOf returns a hash of the stamps of threads, but for those of libraries, and those that wait in OpenMP, which may
// spin. 0: there is no other.
func (m *team) stampOf(threads []int) uint64 {
	hash, n := digest.New(), 0
	for _, i := range threads {
		if f := m.frames[i]; len(f) > 0 && f[0].Func != stack.Helpers && !m.waitsInOpenMP(i) {
			m.stamp(hash, i)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return hash.Sum()
}
