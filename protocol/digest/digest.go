// Package digest provides numbers for bytes: equal bytes have equal numbers, on
// every host and in every build. Different bytes have different ones with a
// chance of 1 in 2^64 to the contrary, so where it matters bytes decide.
package digest

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// Of gives the number of bytes: xxhash64.
func Of(b []byte) uint64 { return xxhash.Sum64(b) }

// OfText gives the number of the bytes of a text.
func OfText(s string) uint64 { return xxhash.Sum64String(s) }

// Running is the number of bytes that come in pieces. The zero value is not
// ready; see New.
type Running struct{ d *xxhash.Digest }

// New begins with no bytes.
func New() Running { return Running{xxhash.New()} }

// Add takes a further piece.
func (r Running) Add(b []byte) { _, _ = r.d.Write(b) } // which never fails

// Sum gives the number of all pieces so far.
func (r Running) Sum() uint64 { return r.d.Sum64() }

// Text writes a number as columns have it: no column takes it for a quantity.
func Text(n uint64) string { return "#" + strconv.FormatUint(n, 16) }
