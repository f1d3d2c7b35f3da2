// The session as the debug console has it.

package dap

import (
	"context"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
)

// twin is the session for the debug console, which runs beside the adapter: it gets the answers to its own calls, and
// all events but output. Methods of session.Session may be called from any goroutine; the adapter's loop calls takes
// and end.
type twin struct {
	session session.Session
	stream  *session.Stream

	mu  sync.Mutex
	own map[protocol.RequestID]bool
}

func newTwin(s session.Session) *twin {
	return &twin{session: s, stream: session.NewStream(), own: map[protocol.RequestID]bool{}}
}

// Do gives a call to the session. The lock is held so that answers come after the number is known.
func (t *twin) Do(ctx context.Context, c session.Call) (protocol.RequestID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, err := t.session.Do(ctx, c)
	if err == nil {
		t.own[id] = true
	}
	return id, err
}

// Events returns the events of the console.
func (t *twin) Events() <-chan session.Event { return t.stream.Events() }

// Close does nothing: the adapter ends the session.
func (t *twin) Close(context.Context) error { return nil }

// takes passes an event on, and reports whether it is the console's alone.
func (t *twin) takes(e session.Event) bool {
	if e.Group.Kind.IsOutput() && !e.IsAnswer() {
		return false
	}
	t.mu.Lock()
	own := t.own[e.ID]
	if e.Done != nil && own && !keepsAnswering(e) {
		delete(t.own, e.ID)
	}
	t.mu.Unlock()
	if !e.IsAnswer() || own {
		t.stream.Push(e)
	}
	return own
}

// keepsAnswering reports whether late answers may follow the end of a call.
func keepsAnswering(e session.Event) bool { return !e.Done.Missing.IsEmpty() }

// end ends the stream.
func (t *twin) end() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	t.stream.End(ctx)
}
