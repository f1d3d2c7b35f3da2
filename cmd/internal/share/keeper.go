// What a session does while it has no front end.

package share

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol"
)

// Keeper looks after a session until it ends.
type Keeper struct {
	Hub *hub.Hub
	// Keep tells how long the session may be without front ends. It is asked anew whenever something changes.
	Keep func() hub.Keep
	// Begun is closed when the first call of the session is complete; then Started, which may be nil, is called.
	Begun   <-chan struct{}
	Started func()
	// Awaited keeps a session whose first call has not been given, as another one. Otherwise it ends when its front
	// ends are gone: there is nothing to come back to.
	Awaited bool
	// Remark tells the user what went wrong.
	Remark func(string)
}

// Run waits until the session ends, and looks after it while it has no front end. The error is why it was ended; nil:
// by a front end, or by itself.
func (k Keeper) Run(ctx context.Context) error {
	begun := k.Begun
	absent := time.Now()
	letGo, came := false, false
	for {
		changed := k.Hub.Changed()
		var due <-chan time.Time
		if len(k.Hub.Present()) > 0 {
			absent, letGo, came = time.Time{}, false, true
		} else {
			if absent.IsZero() {
				absent = time.Now()
			}
			d := k.Keep().After(time.Since(absent), letGo)
			if d.End || came && !k.Awaited && !k.Hub.Started() {
				return nil
			}
			if d.LetGo {
				letGo = true
				k.letGo(ctx)
			}
			if d.Next > 0 {
				due = time.After(d.Next)
			}
		}
		select {
		case <-begun:
			begun = nil
			if k.Started != nil {
				k.Started()
			}
		case <-k.Hub.Done():
			return nil
		case <-changed:
		case <-due:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// letGo detaches from the ranks that stand still.
func (k Keeper) letGo(ctx context.Context) {
	states, _ := k.Hub.States()
	standing := states.In(session.Stopped)
	if standing.IsEmpty() {
		return
	}
	err := k.Hub.Act(ctx, session.Call{Command: "detach", Ranks: standing.String()},
		"nobody is here: ranks "+standing.String()+" of a running job, which stood still, are let go")
	if err != nil {
		k.Remark("ranks " + standing.String() + " stand still and could not be let go: " + err.Error())
	}
}

// Beginning tells when the first call of a session is complete.
type Beginning struct {
	command string
	some    atomic.Bool // a rank was started
	once    sync.Once
	begun   chan struct{}
}

// NewBeginning returns one for a session whose first call is a command.
func NewBeginning(command string) *Beginning {
	return &Beginning{command: command, begun: make(chan struct{})}
}

// Begun is closed when the call is complete and some rank was started.
func (b *Beginning) Begun() <-chan struct{} { return b.begun }

// Observe is for hub.Config.Observe.
func (b *Beginning) Observe(e session.Event) {
	if !e.IsAnswer() || e.Command != b.command {
		return
	}
	if e.Group.Kind == protocol.KindResult && e.Done == nil {
		b.some.Store(true)
	}
	if e.Done != nil && b.some.Load() {
		b.once.Do(func() { close(b.begun) })
	}
}
