// Package protocol holds the words that every part of sdm shares: what a
// command, a group of equal answers, a fault and a job are.
//
// It is the ground floor: plain data, no I/O, no goroutines. Its sub-packages are
// rank sets (rank), what differs between ranks (column), stack trees (stack), and
// their forms as JSON (canonical) and as bytes (wire, decode, digest).
package protocol

// RequestID names one request of a session. The master counts it up from 1;
// 0 means "no request" (an event that nobody asked for).
type RequestID uint64

// FirstInner is the first number of requests that the master makes for itself,
// to work out a set or to compare answers. Nobody can ask for their answers
// again, so servers do not keep them.
const FirstInner RequestID = 1 << 48

// ServerID numbers the servers of a session from 0, as the resource manager
// does. Server i is vertex i+1 of the tree; the master is vertex 0.
type ServerID int

// Version is the version of the packets between master and servers and of the
// JSON objects that front ends see. Two sides that differ refuse each other.
const Version = 1

// MaxBody bounds one body, in bytes: what a single rank may answer. It equals
// the longest line that is read from gdb.
const MaxBody = 64 << 20
