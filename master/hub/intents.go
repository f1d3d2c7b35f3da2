// Calls that are executed once, however often they are made.

package hub

import (
	"fmt"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// intents are the calls with a word for their intent (session.Call.Once), the newest ones. A front end that has lost
// its answer, even one that was started anew, may make the call again. It is pure.
type intents struct {
	by    map[string]intent
	words []string // the oldest first
}

// intent is a call that was made.
type intent struct {
	same string // the call
	id   protocol.RequestID
}

// maxIntents bounds the intents that are known.
const maxIntents = 1000

// check returns why a call is not executed; nil: it is.
func (x *intents) check(c session.Call) *protocol.Fault {
	was, known := x.by[c.Once]
	switch {
	case c.Once == "":
		return nil
	case len(c.Once) > session.MaxOnce:
		return &protocol.Fault{Kind: protocol.FaultUsage, Op: c.Command,
			Message: fmt.Sprintf("once has more than %d bytes", session.MaxOnce)}
	case !known:
		return nil
	case was.same != sameAs(c):
		return &protocol.Fault{Kind: protocol.FaultUsage, Op: c.Command,
			Message: fmt.Sprintf("%q was given for something else", c.Once), Hint: "take a new word"}
	}
	return &protocol.Fault{Kind: protocol.FaultState, Op: c.Command, Before: was.id,
		Message: fmt.Sprintf("%q was given before: it was done as request %d, and is not done again", c.Once, was.id)}
}

// add records a call that is executed.
func (x *intents) add(c session.Call, id protocol.RequestID) {
	if c.Once == "" {
		return
	}
	if x.by == nil {
		x.by = map[string]intent{}
	}
	if len(x.words) == maxIntents {
		delete(x.by, x.words[0])
		x.words = x.words[1:]
	}
	x.by[c.Once], x.words = intent{sameAs(c), id}, append(x.words, c.Once)
}

// sameAs returns a text that is equal for calls that do the same.
func sameAs(c session.Call) string { return string(canonical.JSON(c)) }
