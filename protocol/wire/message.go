// Package wire turns what neighbours in the tree say to each other into bytes
// and back: length-prefixed packets with bounded lengths.
package wire

import (
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Kind is the kind of a packet. The numbers cross the wire and are never reused.
type Kind uint8

const (
	Hello   Kind = 1 // first packet of the dialling side; body: overlay's hello
	Welcome Kind = 2 // answer to Hello: accepted, or refused with a reason
	Init    Kind = 3 // down: body RouteTable of the receiver's subtree; answered by Reply over server numbers
	Command Kind = 4 // down: a request for ranks; body protocol.Command
	Reply   Kind = 5 // up: groups that answer request ID
	Events  Kind = 6 // up: groups that nobody asked for, output included, in order
	Quit    Kind = 7 // down: end of the session; the receiver passes it on, cleans up and closes
	Ping    Kind = 8
	Pong    Kind = 9
	Heal    Kind = 10 // down: leave to adopt the children of the lost servers in Ranks, with Epoch
	Resend  Kind = 11 // down: a vertex above has a new parent; send again what the root has not acknowledged
	Ack     Kind = 12 // down: Marks are what the root has seen
	GivenUp Kind = 13 // down: the receiver is no part of the tree any more; body protocol.Missing says why
	// Between neighbours, of what the receiver sends up in Events: so many Bytes of
	// it have been taken in, and there is room for as many more.
	RoomEvents Kind = 14 // of packets that tell what became of ranks
	RoomOutput Kind = 15 // of packets that hold only what ranks wrote
)

// Flags of a packet.
type Flags uint16

const (
	// Late marks a Reply that comes after the partial answer of its subtree.
	Late Flags = 1 << 0
	// Final marks a Reply after which nothing more will come for the request
	// from this subtree.
	Final Flags = 1 << 1
	// Partial marks the Reply of a vertex whose wait is over: ranks that it has
	// not named are late. A Reply with neither Partial nor Final is continued by
	// the next one.
	Partial Flags = 1 << 2
	// Again marks what has been sent before, and may have been lost with a server:
	// an Init, to one who is adopted; a Command, which is not carried out twice;
	// Events of the one server in Marks: the last of
	// its groups has the sequence number of the mark. They are passed on as they
	// are. The first of an Epoch also ends what came from that child before.
	Again Flags = 1 << 3
	// FromRoot marks an Init that comes from the root itself: whoever gets it has
	// no other way up that could be lost without him.
	FromRoot Flags = 1 << 4
	// Deserted marks a Quit that the master has not said: it is lost, and was
	// waited for.
	Deserted Flags = 1 << 5
)

// Message is one packet: the envelope that vertices route on, and the typed
// partial answers that they merge. They never decode Body or a Group's Body.
type Message struct {
	Kind  Kind
	ID    protocol.RequestID
	Flags Flags
	// Ranks are the ranks addressed (Command), server numbers (Init), or the
	// numbers of servers that are lost (Events, Heal).
	Ranks rank.Set
	// Wait is how long the receiver may hold the answer back; 0 is until all
	// have answered or are lost.
	Wait   time.Duration
	Body   []byte
	Groups []protocol.Group
	// Epoch is the shape of the tree that the packet belongs to: of Init, Heal,
	// Resend, and of Events that are sent again.
	Epoch uint64
	// Marks tell whose groups an Events packet holds, and how far.
	Marks []Mark
	// Settled, of a Command: the root has all that it will ever have of requests
	// with lower numbers, of those made by front ends or of those made by the master
	// (protocol.FirstInner) as this one. Their answers need not be kept. 0: nothing
	// is known.
	Settled protocol.RequestID
	// Running are ranks of the sender's subtree that run, in the first Events of
	// an Epoch: what a new parent cannot know.
	Running rank.Set
	// Bytes is how much room there is, of RoomEvents and RoomOutput.
	Bytes uint64
}

// Mark tells that of each of these servers all groups up to number Last, counted
// from 1 at the server, are meant.
type Mark struct {
	Servers rank.Set
	Last    uint64
}

// MaxPacket bounds a packet, in bytes, its length prefix not counted.
const MaxPacket = protocol.MaxBody + 1<<20
