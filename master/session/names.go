package session

import (
	"strings"

	"sdm/protocol"
)

// DoneName is the name of the event that ends a call.
const DoneName = "done"

// NewEvent makes the event of a group that nobody asked for.
func NewEvent(g protocol.Group) Event {
	return Event{Name: g.Kind.String(), Group: g}
}

// IsAnswer tells whether the event answers a call: a reply, an error, missing
// or lost ranks, or the done that ends it.
func (e Event) IsAnswer() bool { return e.ID != 0 }

// eventKinds finds the kind of a group by the event's name; "output" needs the
// stream as well and stands in kindOf.
var eventKinds = map[string]protocol.Kind{
	"reply": protocol.KindResult, "error": protocol.KindFault,
	"missing": protocol.KindMissing, "lost": protocol.KindLost,
	"started": protocol.KindStarted, "running": protocol.KindRunning,
	"stopped": protocol.KindStopped, "exited": protocol.KindExited,
	"signalled": protocol.KindSignalled, "detached": protocol.KindDetached,
	"note": protocol.KindNote, "logged": protocol.KindLogged,
	"job": protocol.KindJob, "loading": protocol.KindLoading,
}

// kindOf gives the kind for a name and, for output, a stream. A name that this
// version does not know gives 0: a newer master may have more events.
func kindOf(name, stream string) protocol.Kind {
	if name == "output" {
		if stream == "stderr" {
			return protocol.KindStderr
		}
		return protocol.KindStdout
	}
	return eventKinds[name]
}

// hostSeparator joins the hosts of missing ranks in protocol.Missing.Host, when
// they are on several.
const hostSeparator = ","

// Hosts gives the hosts that a Missing names, in its order.
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
