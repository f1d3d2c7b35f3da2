// Package ptptest implements Eclipse's end of the debug protocol of Eclipse PTP.
package ptptest

import (
	"bytes"
	"encoding/binary"
	"sort"
	"strings"

	"sdm/protocol/ptp"
)

// Sender encodes packets as Eclipse's Java code does: arguments are split at their
// first "=", and packets are compressed if that saves space. The zero value is
// ready to use.
type Sender struct {
	codes map[byte]string // codes of the table that was sent, as strings of 0 and 1
}

// NoTable returns a Sender whose table the receiver has not received.
func NoTable() Sender {
	var freq [256]int
	for i := range freq {
		freq[i] = 1
	}
	return Sender{codes: codes(freq)}
}

// Limits of Java's compression, in bytes.
const (
	leastToCompress = 100
	leastToSave     = 100
)

// Packet returns the bytes of a packet.
func (s *Sender) Packet(p ptp.Packet) []byte {
	body := s.compressed(plainPayload(p))
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func plainPayload(p ptp.Packet) []byte {
	b := binary.AppendUvarint(nil, uint64(p.ID))
	b = binary.AppendUvarint(b, uint64(p.Transaction))
	b = binary.AppendUvarint(b, uint64(len(p.Args)))
	for _, a := range p.Args {
		b = append(b, 0)
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			key, value = "", a
		}
		b = binary.AppendUvarint(b, uint64(len(key)))
		b = append(b, key...)
		b = binary.AppendUvarint(b, uint64(len(value)))
		b = append(b, value...)
	}
	return b
}

// compressed returns flags and payload. The first packet that is long enough
// includes the table, even though this makes it larger. Later packets are
// compressed if that saves space.
func (s *Sender) compressed(payload []byte) []byte {
	plain := append([]byte{0}, payload...)
	if len(payload)+header <= leastToCompress {
		return plain
	}
	first := s.codes == nil
	if out := s.compress(payload); first || len(out)+leastToSave <= len(plain) {
		return out
	}
	return plain
}

// Compressed returns the body of a packet in compressed form, whether or not that
// saves space.
func (s *Sender) Compressed(p ptp.Packet) []byte { return s.compress(plainPayload(p)) }

// header is the number of bytes that Java counts before the payload; it appends as
// many zeros.
const header = 5

func (s *Sender) compress(payload []byte) []byte {
	text := append(append([]byte(nil), payload...), make([]byte, header)...)
	out := []byte{0x40}
	out = binary.BigEndian.AppendUint32(out, uint32(len(text)))
	if s.codes == nil {
		out[0] |= 0x10
		var freq [256]int
		for _, c := range text {
			freq[c]++
		}
		for _, n := range freq {
			out = binary.BigEndian.AppendUint32(out, uint32(n))
		}
		s.codes = codes(freq)
	}
	return append(out, packed(text, s.codes)...)
}

// packed packs bits into bytes, lowest bit first.
func packed(text []byte, codes map[byte]string) []byte {
	var bits strings.Builder
	for _, c := range text {
		bits.WriteString(codes[c])
	}
	var out bytes.Buffer
	for rest := bits.String(); rest != ""; {
		n := min(8, len(rest))
		var c byte
		for i := range n {
			c |= (rest[i] - '0') << i
		}
		out.WriteByte(c)
		rest = rest[n:]
	}
	return out.Bytes()
}

// vertex is a node of the code tree.
type vertex struct {
	freq      int
	symbol    byte
	zero, one *vertex
}

// codes builds the code of a table in a slow and obvious way.
func codes(freq [256]int) map[byte]string {
	var a, b []*vertex
	for s, f := range freq {
		a = append(a, &vertex{freq: f, symbol: byte(s)})
	}
	sort.SliceStable(a, func(i, j int) bool { return a[i].freq < a[j].freq })
	for len(a)+len(b) > 1 {
		take := func(from *[]*vertex) *vertex {
			v := (*from)[0]
			*from = (*from)[1:]
			return v
		}
		var first, second *vertex
		switch {
		case len(b) == 0:
			first, second = take(&a), take(&a)
		case len(a) == 0:
			first, second = take(&b), take(&b)
		default:
			x, y := &b, &a
			if a[0].freq < b[0].freq {
				x, y = &a, &b
			}
			first = take(x)
			if len(*x) > 0 && (*y)[0].freq > (*x)[0].freq {
				second = take(x)
			} else {
				second = take(y)
			}
		}
		sum := &vertex{freq: first.freq + second.freq, zero: first, one: second}
		if len(a) == 0 || sum.freq > a[len(a)-1].freq {
			a = append(a, sum)
		} else {
			b = append(b, sum)
		}
	}
	out := map[byte]string{}
	var walk func(v *vertex, code string)
	walk = func(v *vertex, code string) {
		if v.zero == nil {
			out[v.symbol] = code
			return
		}
		walk(v.zero, code+"0")
		walk(v.one, code+"1")
	}
	walk(append(a, b...)[0], "")
	return out
}
