// Hashes of what changes if a thread makes progress.

package sampler

import (
	"encoding/binary"
	"slices"

	"sdm/backend/probe/internal/cfi"
	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/snapshot"
	"sdm/backend/probe/internal/unwind"
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

// noCall stands for the frame of a call where there is none.
const noCall = -1

// addStamp adds to a hash what changes if a thread makes progress: registers and stack. For a thread in a call of a
// library, whose first function is at frame call, these are of the function that has made it and its callers only. Of
// the stack, what is at the addresses of except is left out, remainder bytes each.
func (r *reading) addStamp(hash digest.Running, t *snapshot.Thread, call int, except []uint64) {
	if len(t.Stack.Frames) == 0 {
		return
	}
	held, from, outer := r.stopped[t.TID], t.Stack.Frames[0].SP, 0
	if call != noCall {
		from, outer = t.Stack.Frames[call].CFA, min(call+1, len(t.Stack.Frames)-1)
	}
	add := func(v uint64) { addNumber(hash, v) }
	add(uint64(t.TID))
	add(t.Stack.Frames[outer].PC)
	registers := r.shot.RegistersAt(t, outer)
	for n := range uint64(cfi.MaxRegisters) {
		if n == result && outer == 0 && held.Call.Number != kernelcall.None {
			continue // it says only how the kernel restarts the call
		}
		if v, ok := registers.Get(n); ok && (call == noCall || saved[n]) {
			add(v)
		}
	}
	if s := &held.Stack; from >= s.Addr && from < s.Addr+uint64(len(s.Bytes)) {
		b := s.Bytes[from-s.Addr:]
		// After the pointer the kernel notes on which processor the thread runs (rseq(2)).
		if t.Pointer > from && t.Pointer-from < uint64(len(b)) {
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

// addStampOf is addStamp of the thread of shot with an index, which is in no call. One that waits for the lock of
// Python looks at the clock now and then, so its frames of Python count.
func (m *team) addStampOf(hash digest.Running, i int) {
	t := &m.shot.Threads[i]
	switch {
	case m.wantsLock[i]:
		addNumber(hash, m.interpreter.position(t.Pointer))
	case kernelcall.Sleeps(m.call(i)):
		m.addStamp(hash, t, noCall, remainders(t))
	default:
		m.addStamp(hash, t, noCall, nil)
	}
}

// stampOfCalls returns a hash of what changes if the process makes progress: the calls that its threads are in, its
// first thread, and the threads concerned. calls are by index of the thread in shot, as are concerned.
func (m *team) stampOfCalls(calls []libraryCall, concerned []int) uint64 {
	hash := digest.New()
	for i, c := range calls {
		t := &m.shot.Threads[i]
		switch {
		case c.mpi != nil:
			if c.mpi.sequenced {
				addNumber(hash, c.mpi.sequences)
			}
			m.addStamp(hash, t, c.mpi.frame, nil)
			continue
		case c.unnamed != nil:
			m.addStamp(hash, t, c.unnamed.frame, nil)
			continue
		case c.torch != nil:
			hash.Add(c.torch.progress)
		}
		if t.TID == m.pid {
			m.addStampOf(hash, i)
		}
	}
	for _, i := range concerned {
		m.addStampOf(hash, i)
	}
	return hash.Sum()
}

// stampOfOthers returns a hash of the threads in no call, except the first one, helpers of libraries, and threads that
// wait in OpenMP, which may spin. 0: there is no other.
func (m *team) stampOfOthers(calls []libraryCall) uint64 {
	hash, n := digest.New(), 0
	for i := range calls {
		other := calls[i].isNone() && m.shot.Threads[i].TID != m.pid
		if f := m.frames[i]; other && len(f) > 0 && f[0].Func != stack.Helpers && !m.waitsInOpenMP(i) {
			m.addStampOf(hash, i)
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return hash.Sum()
}

// remainder is the size of a struct timespec or timeval.
const remainder = 16

// remainders returns the addresses to which the kernel may write the rest of a time limit when a sample interrupts a
// thread in clock_nanosleep, nanosleep, select, pselect or ppoll: what their arguments after the first are.
func remainders(t *snapshot.Thread) (addrs []uint64) {
	arguments := []uint64{1, 4, 8, 10} // RDX, RSI, R8, R10 (System V ABI, AMD64, figure 3.36)
	if hold.Machine.PC != unwind.AMD64.PC {
		arguments = []uint64{1, 2, 3, 4} // X1 to X4
	}
	for _, n := range arguments {
		if v, ok := t.Registers.Get(n); ok {
			addrs = append(addrs, v)
		}
	}
	return addrs
}
