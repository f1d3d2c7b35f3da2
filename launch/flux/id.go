// Package flux finds and starts jobs of Flux, the resource manager (flux-framework/flux-core).
//
//	flux job hostpids JOB                 host and process of each rank, in their order
//	flux run -o stop-tasks-in-exec CMD    ranks are stopped (SIGSTOP) right after their exec
//	flux exec --jobid=JOB CMD             CMD once on each node of the job
//
// The commands and their output are as in flux-core 0.60 to 0.88: its manual pages, and
// src/cmd/job/hostpids.c, src/cmd/flux-exec.c, src/shell/mpir/ptrace.c.
package flux

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"sdm/protocol"
)

// ID is the number of a job.
type ID uint64

// digits are the digits of base 58, in which Flux shows IDs after "ƒ" or "f" (Flux RFC 19).
const digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// ParseID reads an ID as users see it: ƒ or f and digits of base 58, or decimal.
func ParseID(text string) (ID, error) {
	bad := fmt.Errorf("%q is no job of Flux (an ID is ƒ or f and letters, or a number; flux jobs lists them)", protocol.Clip(text))
	tail, is58 := strings.CutPrefix(text, "ƒ")
	if !is58 {
		tail, is58 = strings.CutPrefix(text, "f")
	}
	if !is58 {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || text[0] == '+' {
			return 0, bad
		}
		return ID(n), nil
	}
	n := uint64(0)
	for _, c := range []byte(tail) {
		digit := strings.IndexByte(digits, c)
		high, low := bits.Mul64(n, uint64(len(digits)))
		sum, carry := bits.Add64(low, uint64(max(digit, 0)), 0)
		if digit < 0 || high != 0 || carry != 0 {
			return 0, bad
		}
		n = sum
	}
	if tail == "" {
		return 0, bad
	}
	return ID(n), nil
}

// String returns the ID in base 58 after "f", which Flux reads in any locale.
func (id ID) String() string {
	var b []byte
	for n := uint64(id); ; n /= uint64(len(digits)) {
		b = append(b, digits[n%uint64(len(digits))])
		if n < uint64(len(digits)) {
			break
		}
	}
	b = append(b, 'f')
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}
