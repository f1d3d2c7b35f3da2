// Handlers of signals.

package kernelcall

import (
	"encoding/binary"
	"math/bits"

	"sdm/backend/probe/internal/cfi"
)

// Offsets in what the kernel puts on the stack for a handler, from the stack pointer that the handler returns with
// (struct rt_sigframe in arch/x86/include/asm/sigframe.h, after the return address).
const (
	signalMask = 296 // signals that were blocked before
	signalInfo = 304 // the signal, if the handler has asked for more than its number
)

// Handled returns the signal whose handler a thread executes; 0: it is not known. sp is the stack pointer of the frame
// that has called the handler, blocked are the signals that the thread blocks now, and caught those that have handlers:
// bit n-1 is for signal n. While a handler runs, its signal is blocked that was not blocked before (sigaction(2)).
func Handled(mem cfi.Memory, sp, blocked, caught uint64) int {
	var b [16]byte
	if !mem.Read(sp+signalMask, b[:]) {
		return 0
	}
	before := binary.LittleEndian.Uint64(b[:])
	since := blocked &^ before & caught
	if bits.OnesCount64(since) == 1 {
		return bits.TrailingZeros64(since) + 1
	}
	// The handler blocks others, too: the number that may have been stored for it is right if it is one of them.
	n := binary.LittleEndian.Uint32(b[signalInfo-signalMask:])
	if n >= 1 && n <= 64 && since>>(n-1)&1 == 1 {
		return int(n)
	}
	return 0
}
