// The door: what it knows of the session, and what pages share.

package web

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/master/verdict"
	"sdm/protocol"
)

// Door serves a session to browsers. All methods may be called from any goroutine.
//
// Goroutine: New starts one that takes the events of the session, never waits for a page, and ends with the session.
type Door struct {
	cfg      Config
	over     chan struct{}  // closed when the session has ended
	requests sync.WaitGroup // that are being answered; opened under the lock, and not after closed

	mu       sync.Mutex
	access   access
	record   record
	states   *session.States
	version  uint64        // of states
	encoded  []byte        // states as JSON; nil: they have changed
	changed  chan struct{} // closed, and made anew, when there are events or other states
	seen     uint64        // cursor of the last event that was taken
	streams  int           // that are open
	starting int           // calls whose number is not known yet
	calls    map[protocol.RequestID]*call
	ended    bool
	closed   bool
}

// New makes a door and begins to take the events of the session.
func New(cfg Config) *Door {
	if cfg.Log == nil {
		cfg.Log = discard()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := &Door{cfg: cfg, over: make(chan struct{}), states: session.NewStates(cfg.Ranks),
		changed: make(chan struct{}), calls: map[protocol.RequestID]*call{}, version: 1}
	go d.listen()
	return d
}

// Token returns the token of a new link: the page is at "/#TOKEN".
func (d *Door) Token() string {
	text := rand.Text()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.access.offer(d.cfg.Now(), text)
	return text
}

// Over is closed when the session has ended, and nothing is taken from it any more.
func (d *Door) Over() <-chan struct{} { return d.over }

// Seen returns the cursor of the last event of a shared session that pages could see.
func (d *Door) Seen() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

// listen takes the events of the session until it has ended.
func (d *Door) listen() {
	var judge verdict.Judge
	for e := range d.cfg.Session.Events() {
		d.take(judge.Look(e))
	}
	d.mu.Lock()
	d.ended = true
	d.tell()
	d.mu.Unlock()
	close(d.over)
}

// take processes an event.
func (d *Door) take(e session.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = max(d.seen, e.Cursor)
	switch {
	case e.IsAnswer():
		if c := d.calls[e.ID]; c != nil {
			c.add(e)
		} else if d.starting > 0 && !e.Late {
			c = newCall()
			c.add(e)
			d.calls[e.ID] = c
		}
		return
	case e.Group.Kind.TellsState(): // pages get the states instead
		d.states.Feed(e)
		d.version++
		d.encoded = nil
	default:
		d.record.add(e.AppendJSON(nil))
	}
	d.tell()
}

// open counts a request; false: the door is closed.
func (d *Door) open() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.requests.Add(1)
	}
	return !d.closed
}

// close waits for the requests that are being answered, and refuses others.
func (d *Door) close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.requests.Wait()
}

// tell wakes the streams, which wait for something new. The lock must be held.
func (d *Door) tell() {
	close(d.changed)
	d.changed = make(chan struct{})
}

func newCall() *call { return &call{ended: make(chan struct{})} }

// errBusy is the error of a call while there are too many.
var errBusy = errors.New("too many questions at once: wait for an answer")

// ask makes a call and returns its answers as JSON.
func (d *Door) ask(ctx context.Context, c session.Call) ([]byte, error) {
	id, x, err := d.begin(ctx, c)
	if err != nil {
		return nil, err
	}
	defer d.forget(id)
	select {
	case <-x.ended:
	case <-d.over:
		return nil, ErrOver
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_, _ = d.cfg.Session.Do(stop, session.Call{Command: "cancel", Args: protocol.Args{Of: id}}) // or it ends by itself
		return nil, ctx.Err()
	}
	return x.answer(id, c.Command, d.cfg.Ranks)
}

// begin starts a call. Its answers may come before its number.
func (d *Door) begin(ctx context.Context, c session.Call) (protocol.RequestID, *call, error) {
	d.mu.Lock()
	if len(d.calls)+d.starting >= maxCalls {
		d.mu.Unlock()
		return 0, nil, errBusy
	}
	d.starting++
	d.mu.Unlock()
	id, err := d.cfg.Session.Do(ctx, c)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.starting--
	x := d.calls[id]
	if err == nil && x == nil {
		x = newCall()
		d.calls[id] = x
	}
	if x != nil {
		x.claimed = err == nil
	}
	for id, other := range d.calls {
		if d.starting == 0 && !other.claimed { // an answer to a call that was forgotten
			delete(d.calls, id)
		}
	}
	return id, x, err
}

// forget ends the collecting of answers.
func (d *Door) forget(id protocol.RequestID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.calls, id)
}

// statesJSON returns the states as JSON.
func (d *Door) statesJSON() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.encoded == nil {
		d.encoded = encodeStates(d.version, d.states)
	}
	return d.encoded
}

// news is what a stream has to tell.
type news struct {
	lines   [][]byte
	next    uint64 // cursor after lines
	missed  uint64
	version uint64
	ended   bool
	changed <-chan struct{} // closed when there is more
}

// since returns what has come after a cursor.
func (d *Door) since(cursor uint64, bytes int) (n news) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n.lines, n.next, n.missed = d.record.from(cursor, bytes)
	n.version, n.ended, n.changed = d.version, d.ended && n.next == d.record.end(), d.changed
	return n
}
