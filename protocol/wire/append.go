// Encoding of a message.
//
//	packet  = length (4 bytes, highest first) version (1 byte) fields
//	field   = uvarint(number<<2 | form) value
//	value   = uvarint                       form 0
//	        | uvarint(length) bytes         form 1
//	        | length (4 bytes) fields       form 2
//
// Fields that are zero are omitted, unknown ones are skipped. A new field raises
// protocol.PacketVersion. Numbers are never reused.

package wire

import (
	"encoding/binary"
	"fmt"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// form is the encoding of a field's value.
type form uint8

const (
	formNumber form = 0
	formBytes  form = 1
	formNested form = 2
)

// Fields of a message: number and form.
const (
	fieldKind  = 1<<2 | uint64(formNumber)
	fieldID    = 2<<2 | uint64(formNumber)
	fieldFlags = 3<<2 | uint64(formNumber)
	fieldRanks = 4<<2 | uint64(formBytes)  // see rank.Set.AppendWire
	fieldWait  = 5<<2 | uint64(formNumber) // nanoseconds
	fieldBody  = 6<<2 | uint64(formBytes)
	fieldGroup = 7<<2 | uint64(formNested) // once for each group, in order
	fieldEpoch = 8<<2 | uint64(formNumber)
	fieldMark  = 9<<2 | uint64(formNested)  // once for each mark
	fieldRuns  = 10<<2 | uint64(formBytes)  // the set Running
	fieldDone  = 11<<2 | uint64(formNumber) // Settled
	fieldBytes = 12<<2 | uint64(formNumber)
)

// Fields of a mark.
const (
	markServers = 1<<2 | uint64(formBytes)
	markLast    = 2<<2 | uint64(formNumber)
)

// Fields of a group.
const (
	groupKind   = 1<<2 | uint64(formNumber)
	groupRanks  = 2<<2 | uint64(formBytes)
	groupBody   = 3<<2 | uint64(formBytes)
	groupColumn = 4<<2 | uint64(formNested) // once for each column; see Column.AppendWire
	groupStack  = 5<<2 | uint64(formNested) // see Stack.AppendWire
	groupWaits  = 6<<2 | uint64(formNested) // see wait.Graph.AppendWire
)

// lengthSize is the size of the length prefix of a packet and of a nested value, in
// bytes.
const lengthSize = 4

// Append appends the packet, with its length prefix, to b. A Wait below 0, a
// deadline that has passed, is sent as the shortest one. The caller must keep
// messages below MaxPacket; Append panics on a length that does not fit into the
// prefix.
func Append(b []byte, m *Message) []byte {
	b, start := openNested(b)
	b = append(b, protocol.PacketVersion)
	b = appendNumber(b, fieldKind, uint64(m.Kind))
	b = appendNumber(b, fieldID, uint64(m.ID))
	b = appendNumber(b, fieldFlags, uint64(m.Flags))
	b = appendRanks(b, fieldRanks, m.Ranks)
	b = appendNumber(b, fieldWait, uint64(waitOnWire(m.Wait)))
	b = appendBytes(b, fieldBody, m.Body)
	b = appendNumber(b, fieldEpoch, m.Epoch)
	b = appendRanks(b, fieldRuns, m.Running)
	b = appendNumber(b, fieldDone, uint64(m.Settled))
	b = appendNumber(b, fieldBytes, m.Bytes)
	for i := range m.Marks {
		b = appendMark(b, &m.Marks[i])
	}
	for i := range m.Groups {
		b = binary.AppendUvarint(b, fieldGroup)
		b = appendGroup(b, &m.Groups[i])
	}
	return closeNested(b, start)
}

func appendMark(b []byte, m *Mark) []byte {
	b, start := openNested(binary.AppendUvarint(b, fieldMark))
	b = appendRanks(b, markServers, m.Servers)
	b = appendNumber(b, markLast, m.Last)
	return closeNested(b, start)
}

func waitOnWire(wait time.Duration) time.Duration {
	if wait < 0 {
		return 1
	}
	return wait
}

func appendGroup(b []byte, g *protocol.Group) []byte {
	b, start := openNested(b)
	b = appendNumber(b, groupKind, uint64(g.Kind))
	b = appendRanks(b, groupRanks, g.Ranks)
	b = appendBytes(b, groupBody, g.Body)
	for _, c := range g.Columns {
		b = binary.AppendUvarint(b, groupColumn)
		var at int
		b, at = openNested(b)
		b = closeNested(c.AppendWire(b), at)
	}
	if g.Stack != nil {
		b = binary.AppendUvarint(b, groupStack)
		var at int
		b, at = openNested(b)
		b = closeNested(g.Stack.AppendWire(b), at)
	}
	if g.Waits != nil {
		b = binary.AppendUvarint(b, groupWaits)
		var at int
		b, at = openNested(b)
		b = closeNested(g.Waits.AppendWire(b), at)
	}
	return closeNested(b, start)
}

func appendNumber(b []byte, field, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, field), v)
}

func appendBytes(b []byte, field uint64, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	b = binary.AppendUvarint(binary.AppendUvarint(b, field), uint64(len(v)))
	return append(b, v...)
}

// appendRanks encodes the set after one byte for its length, and moves it if the
// length needs more: most sets are a few bytes.
func appendRanks(b []byte, field uint64, s rank.Set) []byte {
	if s.IsEmpty() {
		return b
	}
	b = append(binary.AppendUvarint(b, field), 0)
	start := len(b)
	b = s.AppendWire(b)
	n := uint64(len(b) - start)
	if n < 0x80 {
		b[start-1] = byte(n)
		return b
	}
	var length [binary.MaxVarintLen64]byte
	more := binary.PutUvarint(length[:], n) - 1
	b = append(b, length[:more]...)
	copy(b[start+more:], b[start:])
	copy(b[start-1:], length[:more+1])
	return b
}

// openNested reserves the length, which closeNested fills in.
func openNested(b []byte) (out []byte, start int) {
	b = append(b, 0, 0, 0, 0)
	return b, len(b)
}

func closeNested(b []byte, start int) []byte {
	n := len(b) - start
	if uint64(n) > 1<<32-1 {
		panic(fmt.Sprintf("wire: a packet of %d bytes cannot be sent", n))
	}
	binary.BigEndian.PutUint32(b[start-lengthSize:], uint32(n))
	return b
}
