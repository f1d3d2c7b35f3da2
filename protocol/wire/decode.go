// Decoding of a message from bytes that are not trusted.

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// ErrVersion is the error for a packet of another version of the protocol.
var ErrVersion = errors.New("another version of the protocol")

var errShort = errors.New("wire: packet ends too early")

// Decode decodes one packet, without its length prefix. Body, and the Body and
// Stack of each Group, refer to b: it belongs to the message from then on and must
// not be modified. Ranks and Columns keep no reference to b. An error matches
// ErrVersion if the versions differ.
func Decode(b []byte) (Message, error) {
	if len(b) == 0 {
		return Message{}, errShort
	}
	if b[0] != protocol.PacketVersion {
		return Message{}, fmt.Errorf("wire: %w: theirs %d, ours %d; install the same build on all hosts",
			ErrVersion, b[0], protocol.PacketVersion)
	}
	var m Message
	for f := (fields{rest: b[1:]}); ; {
		ok, err := f.next()
		if err != nil {
			return Message{}, err
		}
		if !ok {
			break
		}
		if err := m.take(&f); err != nil {
			return Message{}, err
		}
	}
	if m.Kind == 0 {
		return Message{}, errors.New("wire: packet has no kind")
	}
	return m, nil
}

// take stores one field of a message.
func (m *Message) take(f *fields) error {
	switch f.tag {
	case fieldKind:
		m.Kind = Kind(f.number)
		return f.atMost("kind", math.MaxUint8)
	case fieldID:
		m.ID = protocol.RequestID(f.number)
	case fieldFlags:
		m.Flags = Flags(f.number)
		return f.atMost("flags", math.MaxUint16)
	case fieldRanks:
		return f.ranks(&m.Ranks)
	case fieldWait:
		m.Wait = time.Duration(f.number)
		return f.atMost("wait", math.MaxInt64)
	case fieldBody:
		m.Body = f.bytes
	case fieldGroup:
		g, err := decodeGroup(f.bytes)
		m.Groups = append(m.Groups, g)
		return err
	case fieldEpoch:
		m.Epoch = f.number
	case fieldRuns:
		return f.ranks(&m.Running)
	case fieldDone:
		m.Settled = protocol.RequestID(f.number)
	case fieldBytes:
		m.Bytes = f.number
	case fieldMark:
		mark, err := decodeMark(f.bytes)
		m.Marks = append(m.Marks, mark)
		return err
	}
	return nil
}

func decodeMark(b []byte) (Mark, error) {
	var m Mark
	for f := (fields{rest: b}); ; {
		ok, err := f.next()
		if err != nil || !ok {
			return m, err
		}
		switch f.tag {
		case markServers:
			err = f.ranks(&m.Servers)
		case markLast:
			m.Last = f.number
		}
		if err != nil {
			return m, err
		}
	}
}

func decodeGroup(b []byte) (protocol.Group, error) {
	var g protocol.Group
	for f := (fields{rest: b}); ; {
		ok, err := f.next()
		if err != nil {
			return g, err
		}
		if !ok {
			break
		}
		if err := takeGroup(&g, &f); err != nil {
			return g, err
		}
	}
	if g.Kind == 0 {
		return g, errors.New("wire: group has no kind")
	}
	return g, nil
}

// takeGroup stores one field of a group.
func takeGroup(g *protocol.Group, f *fields) error {
	switch f.tag {
	case groupKind:
		g.Kind = protocol.Kind(f.number)
		return f.atMost("kind of group", math.MaxUint8)
	case groupRanks:
		return f.ranks(&g.Ranks)
	case groupBody:
		g.Body = f.bytes
	case groupColumn:
		c, rest, err := column.Decode(f.bytes)
		if err != nil {
			return err
		}
		if n := len(g.Columns); n > 0 && g.Columns[n-1].Name >= c.Name {
			return errors.New("wire: columns of a group are out of order")
		}
		g.Columns = append(g.Columns, c)
		return nothingAfter("column", rest)
	case groupStack:
		var rest []byte
		var err error
		if g.Stack, rest, err = stack.Decode(f.bytes); err != nil {
			return err
		}
		return nothingAfter("stack", rest)
	case groupWaits:
		var rest []byte
		var err error
		if g.Waits, rest, err = wait.Decode(f.bytes); err != nil {
			return err
		}
		return nothingAfter("wait graph", rest)
	}
	return nil
}

func nothingAfter(what string, rest []byte) error {
	if len(rest) > 0 {
		return fmt.Errorf("wire: %d bytes after a %s", len(rest), what)
	}
	return nil
}

// fields iterates over the fields of a message or group.
type fields struct {
	rest   []byte
	tag    uint64
	number uint64 // of formNumber
	bytes  []byte // of the other forms; a part of the packet
}

// next decodes one field; false is the end.
func (f *fields) next() (bool, error) {
	if len(f.rest) == 0 {
		return false, nil
	}
	var ok bool
	if f.tag, ok = f.uvarint(); !ok {
		return false, errShort
	}
	var n uint64
	switch form(f.tag & 3) {
	case formNumber:
		if f.number, ok = f.uvarint(); !ok {
			return false, errShort
		}
		return true, nil
	case formBytes:
		if n, ok = f.uvarint(); !ok {
			return false, errShort
		}
	case formNested:
		if len(f.rest) < lengthSize {
			return false, errShort
		}
		n = uint64(binary.BigEndian.Uint32(f.rest))
		f.rest = f.rest[lengthSize:]
	default:
		return false, fmt.Errorf("wire: field %d has an unknown form", f.tag>>2)
	}
	if n > uint64(len(f.rest)) {
		return false, errShort
	}
	f.bytes, f.rest = f.rest[:n:n], f.rest[n:]
	return true, nil
}

func (f *fields) uvarint() (uint64, bool) {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		return 0, false
	}
	f.rest = f.rest[n:]
	return v, true
}

func (f *fields) atMost(what string, most uint64) error {
	if f.number > most {
		return fmt.Errorf("wire: %s is %d, more than %d", what, f.number, most)
	}
	return nil
}

func (f *fields) ranks(s *rank.Set) error {
	got, rest, err := rank.DecodeWire(f.bytes)
	if err != nil {
		return err
	}
	*s = got
	return nothingAfter("rank set", rest)
}
