// Reading bytes that may be hostile.

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"sdm/protocol/rank"
)

// reader takes values from the front of b. After an error, which stays, it gives
// zero values.
type reader struct {
	b   []byte
	err error
}

var errShort = errors.New("bytes end too early")

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.b = nil
}

func (r *reader) uvarint() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail(errShort)
		return 0
	}
	r.b = r.b[n:]
	return v
}

// number reads an unsigned number of at most most.
func (r *reader) number(what string, most int) int {
	v := r.uvarint()
	if v > uint64(most) {
		r.fail(fmt.Errorf("%s is %d, more than %d", what, v, most))
		return 0
	}
	return int(v)
}

// take gives the next n bytes, as a part of what is read; nil after an error.
func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail(errShort)
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) string() string { return string(r.take(r.uvarint())) }

// ranks reads a set that is not empty.
func (r *reader) ranks() rank.Set {
	s, rest, err := rank.DecodeWire(r.b)
	switch {
	case err != nil:
		r.fail(err)
	case s.IsEmpty():
		r.fail(errors.New("a rank set is empty"))
	default:
		r.b = rest
	}
	return s
}

// maxCount bounds a count of ranks or threads that comes from outside, so that
// sums of them stay far from the end of an int.
const maxCount = math.MaxInt32
