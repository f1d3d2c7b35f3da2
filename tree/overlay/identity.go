// The identity of a vertex.

package overlay

import (
	"fmt"

	"sdm/protocol"
	"sdm/tree"
)

// Identity is how a vertex identifies itself to a neighbour.
type Identity struct {
	Node    tree.NodeID
	Session string // neighbours of different sessions refuse each other
	// Epoch is the version of the tree's topology. A server refuses a parent whose
	// epoch is older than its own.
	Epoch   uint64
	Host    string
	Program string // path of the executable, for messages
	Build   string // of the executable, for messages
	Size    int    // servers in the session; 0 is unknown
}

// Limits of fields that are received, in bytes.
const (
	maxGreeting = 64 << 10 // a whole Hello or Welcome packet
	maxName     = 255      // host, session, build
	maxPath     = 4096     // program, refusal
	maxAddrs    = 64       // addresses of a registration
)

// maxServers bounds server numbers and sizes. Ranks are bounded by rank.MaxID, and
// a server without a rank is of no use.
const maxServers = 1 << 24

// introduction is the part of Hello and Welcome that identifies the sender. It is
// canonical JSON. Its field names never change, in no version of the protocol.
type introduction struct {
	Version int         `json:"version"`
	Build   string      `json:"build,omitempty"`
	Host    string      `json:"host,omitempty"`
	Program string      `json:"program,omitempty"`
	Node    tree.NodeID `json:"node"`
	Session string      `json:"session,omitempty"`
	Epoch   uint64      `json:"epoch,omitempty"`
	Size    int         `json:"size,omitempty"`
}

func (id Identity) introduce() introduction {
	return introduction{
		Version: protocol.PacketVersion, Build: clip(id.Build, maxName), Host: clip(id.Host, maxName),
		Program: clip(id.Program, maxPath), Node: id.Node, Session: id.Session, Epoch: id.Epoch, Size: id.Size,
	}
}

func (in introduction) identity() Identity {
	return Identity{Node: in.Node, Session: in.Session, Epoch: in.Epoch,
		Host: in.Host, Program: in.Program, Build: in.Build, Size: in.Size}
}

// clip shortens a text that is used in messages only.
func clip(text string, most int) string { return text[:min(len(text), most)] }

// check validates received fields.
func (in introduction) check() error {
	switch {
	case len(in.Build) > maxName, len(in.Host) > maxName, len(in.Session) > maxName, len(in.Program) > maxPath:
		return fmt.Errorf("greeting has a field that is too long")
	case in.Node < 0 || in.Node > maxServers:
		return fmt.Errorf("greeting has node number %d, at most %d is possible", in.Node, maxServers)
	case in.Size < 0 || in.Size > maxServers:
		return fmt.Errorf("greeting has size %d, at most %d is possible", in.Size, maxServers)
	}
	return nil
}

// String describes the build of a neighbour for messages.
func (in introduction) String() string {
	where := in.Host
	if in.Program != "" {
		where += ":" + in.Program
	}
	if where == "" {
		where = "an unnamed host"
	}
	text := fmt.Sprintf("%s speaks version %d", where, in.Version)
	if in.Build != "" {
		text += " (build " + in.Build + ")"
	}
	return text
}
