// Package wire encodes and decodes the packets between neighbours of the tree:
// length-prefixed, with bounded lengths.
package wire

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Kind is the type of a packet. The numbers are part of the wire format and never
// reused.
type Kind uint8

const (
	Hello   Kind = 1 // first packet of the dialling side; body: overlay's hello
	Welcome Kind = 2 // answer to Hello: accepted, or refused with a reason
	Init    Kind = 3 // down: RouteTable of a subtree; answered by Reply over server numbers
	Command Kind = 4 // down: a request for ranks; body protocol.Command
	Reply   Kind = 5 // up: groups that answer request ID
	Events  Kind = 6 // up: unsolicited groups, output included, in order
	Quit    Kind = 7 // down: end of the session; forwarded; the receiver cleans up and closes
	Ping    Kind = 8
	Pong    Kind = 9
	Heal    Kind = 10 // down: permission to adopt children of the servers in Ranks, with Epoch
	Resend  Kind = 11 // down: a vertex above has a new parent; retransmit unacknowledged events
	Ack     Kind = 12 // down: Marks are what the root has received
	GivenUp Kind = 13 // down: the receiver has been removed from the tree; body protocol.Missing
	// Flow control between neighbours: the sender has received this number of Bytes
	// of Events packets and grants the receiver as many more.
	RoomEvents Kind = 14 // for packets with events
	RoomOutput Kind = 15 // for packets with output only
)

// Flags of a packet.
type Flags uint16

const (
	// Late marks a Reply that follows the partial reply of its subtree.
	Late Flags = 1 << 0
	// Final marks the last Reply of this subtree to a request.
	Final Flags = 1 << 1
	// Partial marks the Reply of a vertex whose wait is over: ranks that it has not
	// named are late. A Reply with neither Partial nor Final is continued by the
	// next one.
	Partial Flags = 1 << 2
	// Again marks a retransmission of what may have been lost with a server: an
	// Init for an adopted vertex; a Command, which is not executed twice; Events of the one server in
	// Marks, whose last group has the sequence number of the mark. Such Events are forwarded
	// unchanged. The first ones of an Epoch also end what came from that child before.
	Again Flags = 1 << 3
	// FromRoot marks an Init from the root itself: no server between the receiver
	// and the root can be lost.
	FromRoot Flags = 1 << 4
	// MasterLost marks a Quit that the master has not sent: it is lost, and the time
	// to wait for it is over.
	MasterLost Flags = 1 << 5
)

// Message is one packet: the envelope by which vertices route it, and the typed
// partial answers that they merge. They never decode Body or a Group's Body.
type Message struct {
	Kind  Kind
	ID    protocol.RequestID
	Flags Flags
	// Ranks are the ranks addressed (Command), server numbers (Init), or the
	// numbers of lost servers (Events, Heal).
	Ranks rank.Set
	// Wait is how long the receiver may delay the answer; 0 means until all ranks
	// have answered or are lost.
	Wait   time.Duration
	Body   []byte
	Groups []protocol.Group
	// Epoch is the version of the tree's topology: of Init, Heal, Resend, and of
	// retransmitted Events.
	Epoch uint64
	// Marks are the servers whose groups an Events packet contains, with sequence
	// numbers.
	Marks []Mark
	// Settled, of a Command: the root needs no more answers to requests with lower
	// numbers in the same series as this one (requests of front ends, or internal
	// ones from protocol.FirstInternal). Servers need not keep them. 0: unknown.
	Settled protocol.RequestID
	// Running are the running ranks of the sender's subtree, in the first Events of
	// an Epoch: a new parent cannot know them.
	Running rank.Set
	// Bytes is the number of bytes granted by RoomEvents and RoomOutput.
	Bytes uint64
}

// Mark identifies all groups of each of these servers up to sequence number Last,
// counted from 1 at the server.
type Mark struct {
	Servers rank.Set
	Last    uint64
}

// MaxPacket bounds a packet, in bytes, without its length prefix.
const MaxPacket = protocol.MaxBody + 1<<20
