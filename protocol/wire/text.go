// Messages as text, for transcripts.

package wire

import (
	"strconv"
	"strings"

	"sdm/protocol"
)

// kindNames are the names of packet kinds in transcripts.
var kindNames = map[Kind]string{
	Hello: "hello", Welcome: "welcome", Init: "init", Command: "command", Reply: "reply",
	Events: "events", Quit: "quit", Ping: "ping", Pong: "pong",
	Heal: "heal", Resend: "resend", Ack: "ack", GivenUp: "given up",
	RoomEvents: "room for events", RoomOutput: "room for output",
}

// String returns the name of the kind in transcripts.
func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return "kind(" + strconv.Itoa(int(k)) + ")"
}

// String returns the flags that are set: "late final".
func (f Flags) String() string {
	var words []string
	if f&Late != 0 {
		words = append(words, "late")
	}
	if f&Final != 0 {
		words = append(words, "final")
	}
	if f&Partial != 0 {
		words = append(words, "partial")
	}
	if f&Again != 0 {
		words = append(words, "again")
	}
	if f&FromRoot != 0 {
		words = append(words, "from-root")
	}
	if f&MasterLost != 0 {
		words = append(words, "master-lost")
	}
	if more := f &^ (Late | Final | Partial | Again | FromRoot | MasterLost); more != 0 {
		words = append(words, "flags(0x"+strconv.FormatUint(uint64(more), 16)+")")
	}
	return strings.Join(words, " ")
}

// String formats the message as one line that depends on its content only:
//
//	command #3 [0-3] wait 10s {"command":"print","args":{"expr":"n"}}
//	reply #3 final; reply [0-3] {"expr":"n"} value=1[0-2]|5[3]
func (m Message) String() string {
	var b strings.Builder
	b.WriteString(m.Kind.String())
	if m.ID != 0 {
		b.WriteString(" #" + strconv.FormatUint(uint64(m.ID), 10))
	}
	if m.Flags != 0 {
		b.WriteString(" " + m.Flags.String())
	}
	if !m.Ranks.IsEmpty() {
		b.WriteString(" [" + m.Ranks.String() + "]")
	}
	if m.Epoch != 0 {
		b.WriteString(" epoch " + strconv.FormatUint(m.Epoch, 10))
	}
	if m.Settled != 0 && m.Settled != m.ID {
		b.WriteString(" settled " + strconv.FormatUint(uint64(m.Settled), 10))
	}
	for _, mark := range m.Marks {
		b.WriteString(" mark " + mark.Servers.String() + ":" + strconv.FormatUint(mark.Last, 10))
	}
	if !m.Running.IsEmpty() {
		b.WriteString(" running [" + m.Running.String() + "]")
	}
	if m.Bytes != 0 {
		b.WriteString(" " + strconv.FormatUint(m.Bytes, 10) + " bytes")
	}
	if m.Wait != 0 {
		b.WriteString(" wait " + m.Wait.String())
	}
	if len(m.Body) > 0 {
		b.WriteString(" " + protocol.BodyText(m.Body))
	}
	for _, g := range m.Groups {
		b.WriteString("; " + g.String())
	}
	return b.String()
}
