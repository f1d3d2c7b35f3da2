// Package eclipse is a client of Eclipse PTP's debug protocol for measurements and tests of whole
// sessions. It starts a job as PTP's launch script for Open MPI does. It shares no code with package
// protocol/ptp, which it checks: it is written from the description of the protocol.
package eclipse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
)

// Packet is a command or an event: its number, and its arguments. The first argument of an event is
// the set of ranks.
type Packet struct {
	Code int
	Args []string
}

// encode returns the bytes of a command: length, flags 0, then numbers and texts with their lengths
// in groups of seven bits. A text is sent as a pair, divided at the first "=".
func encode(p Packet) []byte {
	body := []byte{0}
	body = binary.AppendUvarint(body, uint64(p.Code))
	body = binary.AppendUvarint(body, 0) // transaction: Java's client always sends 0
	body = binary.AppendUvarint(body, uint64(len(p.Args)))
	for _, arg := range p.Args {
		key, value, pair := strings.Cut(arg, "=")
		if !pair {
			key, value = "", arg
		}
		body = append(body, 0)
		for _, text := range []string{key, value} {
			body = binary.AppendUvarint(body, uint64(len(text)))
			body = append(body, text...)
		}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// maxBody bounds a packet of the master, in bytes.
const maxBody = 16 << 20

// decode reads one packet that is not compressed.
func decode(r io.Reader) (Packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return Packet{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxBody {
		return Packet{}, fmt.Errorf("a packet of %d bytes", n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return Packet{}, err
	}
	if body[0] != 0 {
		return Packet{}, fmt.Errorf("flags %#x", body[0])
	}
	d := reader{rest: body[1:]}
	p := Packet{Code: d.number()}
	d.number() // transaction
	for count := d.number(); count > 0 && d.err == nil; count-- {
		d.take(1) // type
		key, value := d.text(), d.text()
		if key != "" {
			value = key + "=" + value
		}
		p.Args = append(p.Args, value)
	}
	return p, d.err
}

// reader decodes a body. After an error its methods return zero values.
type reader struct {
	rest []byte
	err  error
}

// take returns the next n bytes.
func (d *reader) take(n int) []byte {
	if d.err != nil || n < 0 || n > len(d.rest) {
		d.err = errors.New("a packet ends too early")
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

// number reads a number.
func (d *reader) number() int {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 || v > 1<<31-1 {
		d.err = errors.New("an invalid number")
		return 0
	}
	d.take(n)
	return int(v)
}

// text reads a text with its length.
func (d *reader) text() string { return string(d.take(d.number())) }

// setText returns the text of a set of ranks of a job: the number of ranks, and their bits in whole
// bytes, both in hexadecimal digits.
func setText(size int, ranks *big.Int) string {
	return fmt.Sprintf("%x:%0*x", size, (size+7)/8*2, ranks)
}

// ranksOf returns the ranks of a set.
func ranksOf(text string) (*big.Int, error) {
	_, digits, ok := strings.Cut(text, ":")
	ranks, valid := new(big.Int).SetString(digits, 16)
	if !ok || !valid {
		return nil, fmt.Errorf("%q is no set of ranks", text)
	}
	return ranks, nil
}
