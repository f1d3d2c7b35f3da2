// Package decode takes values from the front of bytes that may be hostile.
package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"sdm/protocol/rank"
)

// Reader takes values from the front of Rest. After an error, which stays, it gives
// zero values. It is for one goroutine.
type Reader struct {
	Rest []byte
	Err  error // the first one
}

// ErrShort says that a value is longer than what there is.
var ErrShort = errors.New("bytes end too early")

// Fail ends the reading with an error, if there is none yet.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
	r.Rest = nil
}

// Uvarint reads a number as binary.AppendUvarint writes it.
func (r *Reader) Uvarint() uint64 {
	if len(r.Rest) > 0 && r.Rest[0] < 0x80 {
		v := r.Rest[0]
		r.Rest = r.Rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Fail(ErrShort)
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Varint reads a number as binary.AppendVarint writes it.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	if n <= 0 {
		r.Fail(ErrShort)
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Number reads an unsigned number of at most most.
func (r *Reader) Number(what string, most int) int {
	v := r.Uvarint()
	if v > uint64(most) {
		r.Fail(fmt.Errorf("%s is %d, more than %d", what, v, most))
		return 0
	}
	return int(v)
}

// Take gives the next n bytes, as a part of what is read; nil after an error.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Fail(ErrShort)
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// String reads a length and as many bytes.
func (r *Reader) String() string { return string(r.Take(r.Uvarint())) }

// Ranks reads a set that is not empty.
func (r *Reader) Ranks() rank.Set {
	s, rest, err := rank.DecodeWire(r.Rest)
	switch {
	case err != nil:
		r.Fail(err)
	case s.IsEmpty():
		r.Fail(errors.New("a rank set is empty"))
	default:
		r.Rest = rest
	}
	return s
}

// MaxCount bounds a count of ranks or threads that comes from outside, so that
// sums of them stay far from the end of an int.
const MaxCount = math.MaxInt32
