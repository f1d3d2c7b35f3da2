// What is asked over HTTP.

package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Handler returns the handler of all requests.
func (d *Door) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", servePage)
	mux.HandleFunc("POST /api/key", d.giveKey)
	mux.Handle("GET /api/session", d.keyed(d.tellSession))
	mux.Handle("GET /api/states", d.keyed(d.tellStates))
	mux.Handle("GET /api/events", d.keyed(d.streamEvents))
	mux.Handle("POST /api/call", d.keyed(d.makeCall))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !d.open() {
			return
		}
		defer d.requests.Done()
		setHeaders(w.Header())
		if err := check(r); err != nil {
			d.cfg.Log.Warn("refused", "err", err, "host", protocol.Clip(r.Host), "origin", protocol.Clip(r.Header.Get("Origin")))
			refuse(w, http.StatusForbidden, err)
			return
		}
		extend(w, readTime, writeTime)
		mux.ServeHTTP(w, r)
	})
}

// extend bounds how long the request may be read and the answer be written; 0: without bound. A test's recorder has
// neither.
func extend(w http.ResponseWriter, read, write time.Duration) {
	at := func(d time.Duration) (t time.Time) {
		if d > 0 {
			t = time.Now().Add(d)
		}
		return t
	}
	c := http.NewResponseController(w)
	_ = errors.Join(c.SetReadDeadline(at(read)), c.SetWriteDeadline(at(write)))
}

// refuse answers with an error, as JSON.
func refuse(w http.ResponseWriter, status int, err error) {
	say(w, status, canonical.JSON(struct {
		Error string `json:"error"`
	}{err.Error()}))
}

// say answers with JSON.
func say(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // or the browser is gone
}

// keyed lets those in who have a key.
func (d *Door) keyed(f http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		d.mu.Lock()
		known := bearer && d.access.knows(key)
		d.mu.Unlock()
		if !known {
			refuse(w, http.StatusUnauthorized, errors.New("the key is missing or of another sdm web: open a new link"))
			return
		}
		f(w, r)
	})
}

// read reads the object of a request, strictly.
func read(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	return protocol.ReadStrictly(body, into)
}

// giveKey exchanges a token for a key.
func (d *Door) giveKey(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Token string `json:"token"`
	}
	if err := read(w, r, &asked); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	key := rand.Text()
	d.mu.Lock()
	err := d.access.redeem(d.cfg.Now(), asked.Token, key)
	d.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusUnauthorized, err)
		return
	}
	say(w, http.StatusOK, canonical.JSON(struct {
		Key string `json:"key"`
	}{key}))
}

// sessionJSON is the answer to "session".
type sessionJSON struct {
	Session  string              `json:"session,omitempty"`
	Program  string              `json:"program"`
	Ranks    rank.Set            `json:"ranks"`
	N        int                 `json:"n"`
	Past     bool                `json:"past"`
	Steer    bool                `json:"steer"`
	Change   bool                `json:"change"`   // lines of the prompt may be given
	Commands []string            `json:"commands"` // that may be called
	Front    *protocol.FrontEnd  `json:"front,omitempty"`
	Others   []protocol.FrontEnd `json:"others,omitempty"`
}

func (d *Door) tellSession(w http.ResponseWriter, _ *http.Request) {
	s := sessionJSON{Program: d.cfg.Program, Ranks: d.cfg.Ranks, N: d.cfg.Ranks.Len(), Past: d.cfg.Past,
		Steer: d.cfg.Allow >= protocol.Steer, Change: d.cfg.Allow >= protocol.Change}
	for _, o := range offered {
		if o.needs <= d.cfg.Allow {
			s.Commands = append(s.Commands, o.command)
		}
	}
	if welcome := d.cfg.Welcome; welcome != nil {
		s.Session, s.Front, s.Others = welcome.Session, &welcome.Front, welcome.Others
	}
	say(w, http.StatusOK, canonical.JSON(s))
}

func (d *Door) tellStates(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, d.statesJSON())
}

// makeCall makes a call of the session.
func (d *Door) makeCall(w http.ResponseWriter, r *http.Request) {
	var asked request
	if err := read(w, r, &asked); err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	of := callFor
	if asked.Line != "" {
		of = lineFor
	}
	c, err := of(asked, d.cfg.Allow)
	if err != nil {
		refuse(w, http.StatusForbidden, err)
		return
	}
	extend(w, 0, 0) // while it is waited for; the reader of net/http notices when the browser goes
	ctx, cancel := context.WithTimeoutCause(r.Context(), maxCallTime, fmt.Errorf("no answer in %v", maxCallTime))
	defer cancel()
	answer, err := d.ask(ctx, c)
	extend(w, 0, writeTime)
	var fault *protocol.Fault
	switch {
	case err == nil:
		say(w, http.StatusOK, answer)
	case errors.Is(err, errBusy):
		refuse(w, http.StatusTooManyRequests, err)
	case errors.As(err, &fault):
		refuse(w, http.StatusUnprocessableEntity, err)
	case ctx.Err() != nil:
		refuse(w, http.StatusGatewayTimeout, context.Cause(ctx))
	default:
		refuse(w, http.StatusServiceUnavailable, err)
	}
}

// Pace of a stream: batches are this far apart, and not greater.
const (
	pace     = 100 * time.Millisecond
	maxBatch = 256 << 10 // bytes
	quiet    = 15 * time.Second
)

// streamEvents sends what happens, a line of JSON each, until the session or the browser ends: events as in the
// session's protocol, and besides them
//
//	{"cursor":N}    the next stream begins with ?after=N
//	{"missed":N}    so many events are not kept any more
//	{"states":N}    the states have changed, and are of this version
//	{"over":true}   the session has ended
//
// and empty lines in silence. A browser that does not take a batch within writeTime is cut.
func (d *Door) streamEvents(w http.ResponseWriter, r *http.Request) {
	cursor := uint64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			refuse(w, http.StatusBadRequest, errors.New("after: a number is expected"))
			return
		}
		cursor = n
	}
	if !d.enter() {
		refuse(w, http.StatusTooManyRequests, errors.New("too many pages are open: close some"))
		return
	}
	defer d.leave()
	w.Header().Set("Content-Type", "application/x-ndjson")
	extend(w, 0, writeTime)
	version := uint64(0)
	for {
		n := d.since(cursor, maxBatch)
		batch := n.batch(cursor, version)
		if cursor, version = n.next, n.version; len(batch) == 0 {
			batch = []byte("\n")
		}
		extend(w, 0, writeTime)
		if _, err := w.Write(batch); err != nil || http.NewResponseController(w).Flush() != nil || n.ended {
			return
		}
		if !wait(r.Context(), pace, nil) || !d.has(n) && !wait(r.Context(), quiet, n.changed) {
			return
		}
	}
}

// batch returns the lines of a piece of the stream.
func (n *news) batch(cursor, version uint64) (b []byte) {
	if n.missed > 0 {
		b = fmt.Appendf(b, "{\"missed\":%d}\n", n.missed)
	}
	for _, line := range n.lines {
		b = append(append(b, line...), '\n')
	}
	if n.next != cursor {
		b = fmt.Appendf(b, "{\"cursor\":%d}\n", n.next)
	}
	if n.version != version {
		b = fmt.Appendf(b, "{\"states\":%d}\n", n.version)
	}
	if n.ended {
		b = append(b, "{\"over\":true}\n"...)
	}
	return b
}

// has reports whether there is more than in n.
func (d *Door) has(n news) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return n.next != d.record.end() || n.version != d.version || d.ended
}

// wait waits for a time, or until changed is closed (nil: never); false: ctx is done.
func wait(ctx context.Context, d time.Duration, changed <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-changed:
	case <-ctx.Done():
		return false
	}
	return true
}

// enter counts a stream; false: there are too many.
func (d *Door) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.streams == maxStreams {
		return false
	}
	d.streams++
	return true
}

func (d *Door) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.streams--
}
