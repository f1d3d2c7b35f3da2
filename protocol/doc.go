// Package protocol defines the data types that all parts of sdm share: command,
// group of equal answers, fault, job.
//
// It is the lowest level of packages: plain data, no I/O, no goroutines. Its
// sub-packages are rank sets (rank), values that differ between ranks (column),
// stack trees (stack), and their encodings as JSON (canonical) and as bytes (wire,
// decode, digest).
package protocol

// RequestID identifies one request of a session. The master counts from 1; 0 means
// "no request" (an unsolicited event).
type RequestID uint64

// FirstInternal is the first number of internal requests of the master, which evaluate
// a set or compare answers. Front ends cannot request their answers again, so
// servers do not keep them.
const FirstInternal RequestID = 1 << 48

// ServerID numbers the servers of a session from 0, as the resource manager
// does. Server i is vertex i+1 of the tree; the master is vertex 0.
type ServerID int

// Version is the version of the JSON objects for front ends, which skip fields that
// they do not know. Two sides with different versions refuse each other.
const Version = 1

// PacketVersion is the version of the packets between master and servers. Two sides
// with different versions refuse each other. It changes with every new field: a server
// merges the answers of its subtree, and would drop from them what it does not know.
const PacketVersion = 4

// MaxBody bounds one body, in bytes, and so the answer of a single rank. It
// equals the longest line that is read from gdb.
const MaxBody = 64 << 20

// IsInternal reports whether a request is the master's own.
func (id RequestID) IsInternal() bool { return id >= FirstInternal }
