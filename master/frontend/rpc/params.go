// Parameters of requests.

package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// MaxServers is the maximal number of servers of a session: each has at least one rank.
const MaxServers = int(rank.MaxID) + 1

// Setup is the parameters of the method "initialize" that describe the tree. At most one of Table,
// RoutingFile and Rendezvous is set; with none, the master's own flags apply.
type Setup struct {
	// Table is the whole routing table.
	Table *protocol.RouteTable `json:"table,omitempty"`
	// RoutingFile is a path on the master's host.
	RoutingFile string `json:"routing_file,omitempty"`
	// Rendezvous is the address at which the master waits for its servers.
	Rendezvous string `json:"rendezvous,omitempty"`
	// Servers is the number of servers that register at the rendezvous; 0 is the number that their
	// starter reports.
	Servers int `json:"servers,omitempty"`
	// Tree is the shape: "binomial", "flat" or a number K; "" is the master's.
	Tree string `json:"tree,omitempty"`
	// Wait bounds the building of the tree; 0 is the master's own limit.
	Wait Wait `json:"wait,omitempty"`
	// Partial continues with the servers that are ready in time, if there is one: the ranks of the
	// others are lost from the start.
	Partial bool `json:"partial,omitempty"`
	// WholeSets asks for the complete rank sets of all events, however long.
	WholeSets bool `json:"whole_sets,omitempty"`

	// Front introduces the front end to the others of a session that it joins; nil is one without a name.
	Front *protocol.FrontEnd `json:"front,omitempty"`
	// Cursor is that of the last event that the front end has had, if it has been in the session before.
	Cursor *uint64 `json:"cursor,omitempty"`
}

// Validate returns an error if fields contradict each other.
func (s Setup) Validate() error {
	n := 0
	for _, given := range []bool{s.Table != nil, s.RoutingFile != "", s.Rendezvous != ""} {
		if given {
			n++
		}
	}
	switch {
	case n > 1:
		return errors.New("table, routing_file and rendezvous exclude one another")
	case s.Servers < 0 || s.Servers > MaxServers:
		return fmt.Errorf("servers: must not be negative, or more than %d", MaxServers)
	}
	return nil
}

// Wait is a duration in JSON: a text as Go writes it ("2s", "500ms"), "none" for no limit, or a
// number of seconds. A negative value is no limit.
type Wait time.Duration

// MarshalJSON writes the text.
func (w Wait) MarshalJSON() ([]byte, error) {
	if w < 0 {
		return []byte(`"none"`), nil
	}
	return json.Marshal(time.Duration(w).String())
}

// UnmarshalJSON reads all three forms.
func (w *Wait) UnmarshalJSON(b []byte) error {
	var text string
	var seconds float64
	switch {
	case json.Unmarshal(b, &seconds) == nil && string(b) != "null":
		if seconds < 0 || seconds > (365*24*time.Hour).Seconds() {
			return fmt.Errorf("a wait of %v seconds is not possible", seconds)
		}
		*w = Wait(seconds * float64(time.Second))
	case json.Unmarshal(b, &text) == nil && text == "none":
		*w = -1
	default:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf(`%s is no wait; write "2s", "none" or a number of seconds`, protocol.Clip(string(b)))
		}
		*w = Wait(d)
	}
	return nil
}

// callParams are the parameters of every command.
type callParams struct {
	Ranks string `json:"ranks,omitempty"`
	Wait  Wait   `json:"wait,omitempty"`
	// Stream asks for the number of the call at once and for its answers as notifications;
	// otherwise they come with the result, when all are complete.
	Stream bool `json:"stream,omitempty"`
	// WholeSets asks for the complete rank sets of the answers, however long.
	WholeSets bool `json:"whole_sets,omitempty"`
	// Once is session.Call.Once.
	Once string `json:"once,omitempty"`
	protocol.Args
}

// leaveParams are the parameters of "leave".
type leaveParams struct {
	// Cursor is that of the last event that was shown to the user.
	Cursor uint64 `json:"cursor"`
}

// cancelParams are the parameters of "cancel", besides the number of the request.
type cancelParams struct {
	// Call is the id of a request of JSON-RPC that is not answered yet.
	Call json.RawMessage `json:"call"`
}

func (p callParams) call(command string) session.Call {
	return session.Call{Command: command, Ranks: p.Ranks, Wait: time.Duration(p.Wait), Args: p.Args, Once: p.Once}
}

// readParams reads an object strictly: an unknown name of a parameter is an error.
func readParams(raw json.RawMessage, into any) *callError {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if err := protocol.ReadStrictly(raw, into); err != nil {
		return failure(codeParams, "params: "+err.Error()+" (params are an object; docs/protocol.md lists its fields)")
	}
	return nil
}
