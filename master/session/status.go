// The state of a rank.

package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// State is the state of a rank according to its events.
type State string

// The states. A rank is unstarted, starting, then alternately stopped and running, and ends in one
// of the last four. One that is attached to lazily is watched before it is stopped for the first
// time.
const (
	Unstarted State = "unstarted" // no event has come
	Starting  State = "starting"  // it exists and is under control
	Stopped   State = "stopped"
	Running   State = "running"
	Watched   State = "watched" // runs, and has no debugger until a command needs one
	Exited    State = "exited"
	Signalled State = "signalled" // ended by a signal
	Detached  State = "detached"  // runs without control
	Lost      State = "lost"      // its server is gone
)

// stateNames are all states, in the order of a rank's life; @NAME is the set of ranks in one.
var stateNames = []State{Unstarted, Starting, Stopped, Running, Watched, Exited, Signalled, Detached, Lost}

// AllStates returns all states, in the order of a rank's life.
func AllStates() []State { return slices.Clone(stateNames) }

// Ended reports whether the state is final, until the rank is started again.
func (s State) Ended() bool {
	return s == Exited || s == Signalled || s == Detached || s == Lost
}

// Status is a state and its details: the result of the command "ranks".
type Status struct {
	State  State  `json:"state"`
	Where  string `json:"where,omitempty"`  // of stopped: "work.c:31", a library, or nothing
	Func   string `json:"func,omitempty"`   // of stopped
	Reason string `json:"reason,omitempty"` // of stopped: as protocol.Stop.Reason
	// Breakpoint is sdm's number of the breakpoint at which it has stopped.
	Breakpoint int    `json:"breakpoint,omitempty"`
	Signal     string `json:"signal,omitempty"` // of stopped and signalled
	Code       *int   `json:"code,omitempty"`   // of exited
	Cause      string `json:"cause,omitempty"`  // of lost
	Host       string `json:"host,omitempty"`   // of lost
}

// StatusGroup is a status and the ranks that have it.
type StatusGroup struct {
	Status Status
	Ranks  rank.Set
}

// statusAfter returns the status of a rank after an event; false if the event does not change it.
// If the body cannot be read, the status has no details.
func statusAfter(g protocol.Group) (Status, bool) {
	switch g.Kind {
	case protocol.KindStarted:
		return Status{State: Starting}, true
	case protocol.KindRunning:
		return Status{State: Running}, true
	case protocol.KindStopped:
		var stop protocol.Stop
		_ = json.Unmarshal(g.Body, &stop) // without details if it cannot be read
		return stopped(stop), true
	case protocol.KindExited, protocol.KindSignalled:
		var x protocol.Exit
		_ = json.Unmarshal(g.Body, &x) // as above
		if x.Unknown {
			return Status{State: Exited}, true
		}
		if g.Kind == protocol.KindExited {
			return Status{State: Exited, Code: &x.Code}, true
		}
		return Status{State: Signalled, Signal: x.Signal}, true
	case protocol.KindWatched:
		return Status{State: Watched}, true
	case protocol.KindDetached:
		return Status{State: Detached}, true
	case protocol.KindLost:
		var m protocol.Missing
		_ = json.Unmarshal(g.Body, &m) // as above
		return Status{State: Lost, Cause: m.Cause, Host: m.Host}, true
	}
	return Status{}, false
}

func stopped(stop protocol.Stop) Status {
	s := Status{State: Stopped, Reason: stop.Reason, Signal: stop.Signal, Breakpoint: stop.Breakpoint}
	f := stop.Frame
	if stop.Caller != nil { // the stop is in a library
		f = stop.Caller
	}
	if f != nil {
		s.Where, s.Func = Where(*f), f.Func
	}
	return s
}

// Where returns the location of a frame: "work.c:31", or its library.
func Where(f protocol.Frame) string {
	if f.File == "" {
		return f.From
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}
