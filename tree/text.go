// Outputs as text, for transcripts and logs.

package tree

import (
	"fmt"
	"time"

	"sdm/protocol"
)

// String gives the packet as "parent <- …".
func (o ToParent) String() string { return "parent <- " + o.Msg.String() }

// String gives the packet as "child 4 <- …".
func (o ToChild) String() string { return fmt.Sprintf("child %d <- %v", o.Child, o.Msg) }

// String gives child, server and wait; of an adoption the epoch too.
func (o Connect) String() string {
	verb := "connect"
	if o.Adopt {
		verb = fmt.Sprintf("adopt in epoch %d", o.Epoch)
	}
	return fmt.Sprintf("%s %d, %s%s", verb, o.Child, routeText(o.Route), waitText(o.Wait))
}

// String gives the number.
func (o Epoch) String() string { return fmt.Sprintf("epoch %d", o.Epoch) }

// String gives "hold output" or "let output pass".
func (o Hold) String() string {
	if o.On {
		return "hold output"
	}
	return "let output pass"
}

// String gives the request as a packet would be shown.
func (o Deliver) String() string {
	return fmt.Sprintf("deliver #%d [%v]%s %s", o.ID, o.Ranks, waitText(o.Wait), protocol.BodyText(o.Body))
}

// String gives the route and the size.
func (o DeliverInit) String() string {
	return fmt.Sprintf("deliver init, %s, of %d", routeText(o.Route), o.Size)
}

// String gives the words "deliver quit", and the cause.
func (o DeliverQuit) String() string {
	if o.Cause != "" {
		return "deliver quit: " + o.Cause
	}
	if o.Deserted {
		return "deliver quit: deserted"
	}
	return "deliver quit"
}

// String gives child and cause.
func (o Drop) String() string { return fmt.Sprintf("drop %d: %s", o.Child, o.Cause) }

// String gives the cause.
func (o LeaveParent) String() string { return "leave parent: " + o.Cause }

// String gives the time, or "never".
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
