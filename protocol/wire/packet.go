// Reading packets from a stream.

package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// trusted is the number of bytes that are allocated because of a length prefix
// before any of them has arrived.
const trusted = 64 << 10

// ReadPacket reads one packet and returns it without its length, for Decode. Each
// packet has memory of its own, which grows as bytes arrive, so that a length alone
// costs at most 64 KiB. Packets longer than max bytes are refused. The error is
// io.EOF at the end between two packets, io.ErrUnexpectedEOF within one.
func ReadPacket(r *bufio.Reader, max int) ([]byte, error) {
	head, err := r.Peek(lengthSize)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	length := binary.BigEndian.Uint32(head)
	if uint64(length) > uint64(max) {
		return nil, fmt.Errorf("wire: a packet of %d bytes was announced, at most %d are accepted", length, max)
	}
	n := int(length)
	if _, err := r.Discard(lengthSize); err != nil {
		return nil, err
	}
	b := make([]byte, 0, min(n, trusted))
	for len(b) < n {
		b = slices.Grow(b, min(n-len(b), trusted+len(b)))
		part := b[len(b):min(n, cap(b))]
		got, err := io.ReadFull(r, part)
		b = b[:len(b)+got]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}
