// Package decode decodes values from bytes that are not trusted.
package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"sdm/protocol/rank"
)

// Reader decodes values from the front of Rest. After the first error, which is
// kept, it returns zero values. It is for one goroutine.
type Reader struct {
	Rest []byte
	Err  error // the first one
}

// ErrShort is the error for a value that is longer than the remaining bytes.
var ErrShort = errors.New("bytes end too early")

// Fail ends decoding with an error, unless there is one already.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
	r.Rest = nil
}

// Uvarint decodes a number encoded by binary.AppendUvarint.
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

// Varint decodes a number encoded by binary.AppendVarint.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	if n <= 0 {
		r.Fail(ErrShort)
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Number decodes an unsigned number of at most most.
func (r *Reader) Number(what string, most int) int {
	v := r.Uvarint()
	if v > uint64(most) {
		r.Fail(fmt.Errorf("%s is %d, more than %d", what, v, most))
		return 0
	}
	return int(v)
}

// Take returns the next n bytes, as a slice of Rest; nil after an error.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.Rest)) {
		r.Fail(ErrShort)
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// String decodes a length and as many bytes.
func (r *Reader) String() string { return string(r.Take(r.Uvarint())) }

// Ranks decodes a set that is not empty.
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

// MaxCount bounds a received count of ranks or threads, so that sums of counts do
// not overflow an int.
const MaxCount = math.MaxInt32
