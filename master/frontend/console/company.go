// The other front ends of the session.

package console

import (
	"encoding/json"
	"errors"
	"slices"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
)

// ErrLeft is the error of Run if the user has left a session that several share: it goes on.
var ErrLeft = errors.New("left")

// company is what is known of the other front ends of the session. It is pure.
type company struct {
	shared bool // the session can be left
	id     string
	own    int // our number
	others []protocol.FrontEnd
	warned bool   // that they lose the session by a quit
	quit   bool   // one of them has ended the session
	shown  uint64 // cursor of the last event that was taken
}

func (c *company) join(w *session.Welcome) {
	if w != nil {
		*c = company{shared: true, id: w.Session, own: w.Front.Number, others: w.Others, shown: w.Cursor}
	}
}

// observe takes an event; hide reports whether it is about this console, whose user knows it
// already.
func (c *company) observe(e session.Event) (hide bool) {
	if e.Cursor != 0 {
		c.shown = e.Cursor
	}
	switch e.Group.Kind {
	case protocol.KindCommand:
		var x protocol.Commanded
		known := json.Unmarshal(e.Group.Body, &x) == nil
		c.quit = c.quit || known && x.Front != c.own && x.Command == "quit"
		return known && x.Front == c.own
	case protocol.KindFront:
		var f protocol.FrontEnd
		if json.Unmarshal(e.Group.Body, &f) != nil {
			return false
		}
		c.others = slices.DeleteFunc(slices.Clone(c.others), func(o protocol.FrontEnd) bool { return o.Number == f.Number })
		if f.Change == "came" && f.Number != c.own {
			c.others, c.warned = append(c.others, f), false
		}
		return f.Number == c.own
	}
	return false
}

// refuseQuit returns why a quit is refused once; nil: it is not.
func (c *company) refuseQuit() error {
	if len(c.others) == 0 || c.warned {
		return nil
	}
	c.warned = true
	are := " are"
	if len(c.others) == 1 {
		are = " is"
	}
	return &protocol.Fault{
		Kind: protocol.FaultState, Op: "quit", Message: text.FrontEnds(c.others) + are + " here, too",
		Hint: "quit again to end the session for everybody, or leave",
	}
}

// back tells how to come back after leaving.
func (c *company) back() string {
	return "left " + c.id + ", which goes on; sdm join " + c.id + " comes back"
}
