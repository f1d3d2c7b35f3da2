// Names of events.

package session

import (
	"strings"

	"sdm/protocol"
)

// DoneName is the name of the event that ends a call.
const DoneName = "done"

// NewEvent makes the event of an unsolicited group.
func NewEvent(g protocol.Group) Event {
	return Event{Name: g.Kind.String(), Group: g}
}

// IsAnswer reports whether the event answers a call: a reply, an error, a note to it, missing or lost
// ranks, or the done that ends it.
func (e Event) IsAnswer() bool { return e.ID != 0 }

// eventKinds maps the names of events to kinds of groups, except "output", whose kind depends on
// the stream; see kindOf.
var eventKinds = map[string]protocol.Kind{
	"reply": protocol.KindResult, "error": protocol.KindFault,
	"missing": protocol.KindMissing, "lost": protocol.KindLost,
	"started": protocol.KindStarted, "running": protocol.KindRunning,
	"stopped": protocol.KindStopped, "exited": protocol.KindExited,
	"signalled": protocol.KindSignalled, "detached": protocol.KindDetached, "watched": protocol.KindWatched,
	"note": protocol.KindNote, "logged": protocol.KindLogged,
	"job": protocol.KindJob, "loading": protocol.KindLoading,
	"command": protocol.KindCommand, "front": protocol.KindFront, "gap": protocol.KindGap,
	"breakpoint": protocol.KindPoints,
}

// kindOf returns the kind for a name and, for output, a stream. It returns 0 for unknown names: a
// newer master may have more events.
func kindOf(name, stream string) protocol.Kind {
	if name == "output" {
		if stream == "stderr" {
			return protocol.KindStderr
		}
		return protocol.KindStdout
	}
	return eventKinds[name]
}

// hostSeparator separates the hosts of missing ranks in protocol.Missing.Host.
const hostSeparator = ","

// Hosts returns the hosts that a Missing names, in its order.
func Hosts(m protocol.Missing) []string {
	if m.Host == "" {
		return nil
	}
	return strings.Split(m.Host, hostSeparator)
}

// MissingOn makes the body of a missing or lost group of ranks on some hosts.
func MissingOn(cause string, hosts []string) protocol.Missing {
	return protocol.Missing{Cause: cause, Host: strings.Join(hosts, hostSeparator)}
}
