// Package digest computes 64-bit hashes that are equal for equal bytes on every
// host and in every build. Different bytes have equal hashes with a probability of
// 1 in 2^64, so where it matters bytes must be compared.
package digest

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Of returns the xxhash64 of bytes.
func Of(b []byte) uint64 { return xxhash.Sum64(b) }

// OfText returns the hash of the bytes of a string.
func OfText(s string) uint64 { return xxhash.Sum64String(s) }

// Running computes the hash of bytes that arrive in pieces. New makes one; the zero
// value is not usable.
type Running struct{ d *xxhash.Digest }

// New returns a Running of no bytes.
func New() Running { return Running{xxhash.New()} }

// Add adds a piece.
func (r Running) Add(b []byte) { _, _ = r.d.Write(b) } // never fails

// Sum returns the hash of all pieces so far.
func (r Running) Sum() uint64 { return r.d.Sum64() }

// Text formats a hash as the value of a column. The "#" prevents it from being
// parsed as a number.
func Text(n uint64) string { return "#" + strconv.FormatUint(n, 16) }
