// Outputs as text, for transcripts and logs.

package tree

import (
	"fmt"
	"time"

	"sdm/protocol"
)

// String formats the packet as "parent <- …".
func (o ToParent) String() string { return "parent <- " + o.Msg.String() }

// String formats the packet as "child 4 <- …".
func (o ToChild) String() string { return fmt.Sprintf("child %d <- %v", o.Child, o.Msg) }

// String formats child, server and wait, and the epoch of an adoption.
func (o Connect) String() string {
	verb := "connect"
	if o.Adopt {
		verb = fmt.Sprintf("adopt in epoch %d", o.Epoch)
	}
	return fmt.Sprintf("%s %d, %s%s", verb, o.Child, routeText(o.Route), waitText(o.Wait))
}

// String formats the epoch.
func (o Epoch) String() string { return fmt.Sprintf("epoch %d", o.Epoch) }

// String returns "pause output" or "resume output".
func (o PauseOutput) String() string {
	if o.On {
		return "pause output"
	}
	return "resume output"
}

// String formats the request like a packet.
func (o Deliver) String() string {
	return fmt.Sprintf("deliver #%d [%v]%s %s", o.ID, o.Ranks, waitText(o.Wait), protocol.BodyText(o.Body))
}

// String formats the route and the size.
func (o DeliverInit) String() string {
	return fmt.Sprintf("deliver init, %s, of %d", routeText(o.Route), o.Size)
}

// String returns "deliver quit", with the cause.
func (o DeliverQuit) String() string {
	if o.Cause != "" {
		return "deliver quit: " + o.Cause
	}
	if o.MasterLost {
		return "deliver quit: master lost"
	}
	return "deliver quit"
}

// String formats child and cause.
func (o Disconnect) String() string { return fmt.Sprintf("disconnect %d: %s", o.Child, o.Cause) }

// String formats the cause.
func (o LeaveParent) String() string { return "leave parent: " + o.Cause }

// String formats the time, or "never" for 0.
func (o Wake) String() string {
	if o.At == 0 {
		return "wake never"
	}
	return "wake at " + o.At.String()
}

func routeText(r protocol.Route) string {
	text := fmt.Sprintf("server %d", r.Server)
	if r.Host != "" {
		text += " on " + r.Host
	}
	return text + " [" + r.Ranks.String() + "]"
}

func waitText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " wait " + d.String()
}
