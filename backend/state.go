// States of a target: which commands it accepts, and which events can follow.

package backend

import "sdm/protocol"

// State is the state of a target, as its events have reported it. It is pure: a back end keeps one
// for each rank and consults it before it reports an event.
//
//	Attaching ─ stopped ─→ Stopped ─ running ─→ Running ─ stopped ─→ Stopped
//	    └────── running ──────────────────────────┘
//	any of these ─ exited, signalled, detached, lost ─→ the end, for good
type State uint8

// The zero State means that the target is being brought under control.
const (
	Attaching State = iota
	Stopped
	Running
	Exited
	Signalled
	Detached
	Lost
)

// stateNames are the texts of String.
var stateNames = [...]string{"attaching", "stopped", "running", "exited", "signalled", "detached", "lost"}

// String returns the name of the state, one word.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// IsOver reports whether the target has ended for the debugger: no events follow.
func (s State) IsOver() bool { return s >= Exited }

// After returns the state that an event leads to. ok is false for an event that is impossible in
// this state: a second stop in a row, or anything after the end. Such an event must not be
// reported.
func (s State) After(event protocol.Kind) (State, bool) {
	if s.IsOver() {
		return s, false
	}
	switch event {
	case protocol.KindRunning:
		return Running, s != Running
	case protocol.KindStopped:
		return Stopped, s != Stopped
	case protocol.KindExited:
		return Exited, true
	case protocol.KindSignalled:
		return Signalled, true
	case protocol.KindDetached:
		return Detached, true
	case protocol.KindLost:
		return Lost, true
	}
	return s, false
}

// Refuse returns the fault with which a target in this state answers a command with the given
// need, or nil if the command is allowed.
func (s State) Refuse(need protocol.Need) *protocol.Fault {
	switch {
	case need == protocol.NeedNew:
		return wrongState("the rank is under control already", "")
	case s == Attaching:
		return wrongState("the rank is not under control yet", "wait until it has stopped")
	case s.IsOver():
		return wrongState(s.endMessage(), "start the program again")
	case need == protocol.NeedStopped && s == Running:
		return wrongState("the rank is running", "interrupt it first")
	case need == protocol.NeedRunning && s == Stopped:
		return wrongState("the rank is stopped", "continue it first")
	}
	return nil
}

func (s State) endMessage() string {
	switch s {
	case Signalled:
		return "the rank was ended by a signal"
	case Detached:
		return "the rank has been detached from"
	case Lost:
		return "the rank is lost"
	}
	return "the rank has exited"
}

// NotStarted returns the fault of a rank that is unknown to a back end.
func NotStarted() *protocol.Fault {
	return wrongState("the rank has not been started", "launch a program or attach to one first")
}

func wrongState(message, hint string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultState, Message: message, Hint: hint}
}
