// What becomes of a session without front ends.

package hub

import (
	"cmp"
	"time"
)

// Keep says how long a session without front ends is kept. It is pure.
type Keep struct {
	// For is the time until the session is ended; 0: at once.
	For time.Duration
	// Attached tells that sdm has attached to the ranks: they are somebody's job, which must not stand still for
	// long. They are let go after Standing.
	Attached bool
	Standing time.Duration // 0: a sixth of For
}

// DefaultKeep is how long a session is kept unless that is told: a way home, or a meeting.
const DefaultKeep = 30 * time.Minute

// Due is what is due, and when the next is.
type Due struct {
	LetGo bool          // let those ranks go that stand still
	End   bool          // end the session
	Next  time.Duration // until something is due; 0: nothing
}

// After returns what is due when nobody has been there for a time. letGo tells that ranks were let go before.
func (k Keep) After(absent time.Duration, letGo bool) Due {
	soon := cmp.Or(k.Standing, k.For/6)
	switch {
	case absent >= k.For:
		return Due{End: true}
	case !k.Attached || letGo:
		return Due{Next: k.For - absent}
	case absent >= soon:
		return Due{LetGo: true, Next: k.For - absent}
	}
	return Due{Next: soon - absent}
}
