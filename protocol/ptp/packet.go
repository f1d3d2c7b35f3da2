// Encoding of packets.

package ptp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Packet is a command or an event. Arguments are bytes in ISO 8859-1; see Text
// and Latin1.
type Packet struct {
	ID Code
	// Transaction is chosen by the sender of a command and should be returned in
	// the answer; Eclipse always sends 0 and ignores it.
	Transaction uint32
	Args        []string
}

// String formats the numbers and the arguments.
func (p Packet) String() string { return fmt.Sprintf("%d %d %q", p.ID, p.Transaction, p.Args) }

// LengthSize is the size of the length prefix of a body.
const LengthSize = 4

// MaxBody bounds the body of a packet, compressed or not, in bytes. The longest
// packet of a front end is a START SESSION with the arguments of a program, which
// the system limits to 2 MiB; an expression that is longer is refused by an answer.
const MaxBody = 16 << 20

// Flags of a body, in its first byte.
const (
	flagCompressed = 0x40
	flagTable      = 0x10 // with flagCompressed: a table of frequencies comes first
)

// stringAttribute is the type of every argument. Java's decoder treats other types
// in the same way.
const (
	stringAttribute = 0
	lastAttribute   = 5
)

// BodyLength decodes the length of the body that follows. An error means that the
// bytes are not a packet.
func BodyLength(b [LengthSize]byte) (int, error) {
	n := binary.BigEndian.Uint32(b[:])
	if n == 0 || n > MaxBody {
		return 0, fmt.Errorf("a packet of %d bytes (1 to %d are possible): the other end does not speak Eclipse PTP's protocol", n, MaxBody)
	}
	return int(n), nil
}

// Append appends the packet with its length to b, uncompressed. An argument is
// never split into key and value: the receiver joins both again, and loses the "="
// of an empty value.
func (p Packet) Append(b []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, 0) // the length, and no flags
	b = binary.AppendUvarint(b, uint64(p.ID))
	b = binary.AppendUvarint(b, uint64(p.Transaction))
	b = binary.AppendUvarint(b, uint64(len(p.Args)))
	for _, a := range p.Args {
		b = append(b, stringAttribute, 0)
		b = binary.AppendUvarint(b, uint64(len(a)))
		b = append(b, a...)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-LengthSize))
	return b
}

// Decoder decodes the bodies of one sender, in order: a frequency table applies to
// the bodies that follow. The zero value is ready to use. It is for one goroutine.
type Decoder struct {
	tree *huffman // nil: no table has been received
}

var errShort = errors.New("the packet ends too early")

// Decode decodes a body. The packet keeps no reference to it.
func (d *Decoder) Decode(body []byte) (Packet, error) {
	if len(body) == 0 {
		return Packet{}, errShort
	}
	flags, payload := body[0], body[1:]
	switch flags {
	case 0:
	case flagCompressed, flagCompressed | flagTable:
		var err error
		if payload, err = d.inflate(payload, flags&flagTable != 0); err != nil {
			return Packet{}, err
		}
	default:
		return Packet{}, fmt.Errorf("unknown flags %#x", flags)
	}
	return decodePayload(payload)
}

// decodePayload ignores bytes after the last argument: Java appends five zero bytes
// when it compresses.
func decodePayload(b []byte) (Packet, error) {
	r := reader{rest: b}
	p := Packet{ID: Code(r.number()), Transaction: r.number()}
	n := int(r.number())
	const least = 3 // bytes of an argument
	if n > len(r.rest)/least {
		return Packet{}, fmt.Errorf("%d arguments in %d bytes", n, len(r.rest))
	}
	p.Args = make([]string, 0, n)
	for range n {
		if kind := r.byte(); kind > lastAttribute {
			return Packet{}, fmt.Errorf("an argument of type %d", kind)
		}
		key, value := r.text(), r.text()
		if len(key) > 0 && len(value) > 0 {
			value = key + "=" + value
		} else if len(key) > 0 {
			value = key
		}
		p.Args = append(p.Args, value)
	}
	return p, r.err
}

// reader decodes values from the front of rest. After an error it returns zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

// number decodes an unsigned 32-bit number.
func (r *reader) number() uint32 {
	v, n := binary.Uvarint(r.rest)
	switch {
	case n == 0:
		r.fail(errShort)
		return 0
	case n < 0 || v > math.MaxUint32:
		r.fail(errors.New("a number of more than 32 bits"))
		return 0
	}
	r.rest = r.rest[n:]
	return uint32(v)
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail(errShort)
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

func (r *reader) text() string {
	n := r.number()
	if uint64(n) > uint64(len(r.rest)) {
		r.fail(errShort)
		return ""
	}
	text := string(r.rest[:n])
	r.rest = r.rest[n:]
	return text
}
