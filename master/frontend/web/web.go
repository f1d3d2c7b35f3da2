// Package web is the door of browsers to a session: a page, and what it asks, as JSON over HTTP.
package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Config says what the door leads to.
type Config struct {
	Session session.Session
	Ranks   rank.Set
	Program string // what is debugged, for the title of the page
	// Welcome is what the session has told of itself and its other front ends; nil: it is not shared.
	Welcome *session.Welcome
	// Past: the session is a hang file, in which nothing changes any more.
	Past bool
	// Allow is how much the page may do. The greatest that has an effect is protocol.Steer.
	Allow protocol.Permission
	// Log gets what was refused, and why; nil: nobody does.
	Log *slog.Logger
	// Now is the clock by which links expire; nil: time.Now.
	Now func() time.Time
}

// Bounds of what browsers can make the door hold.
const (
	maxHeader  = 16 << 10         // bytes of the header of a request
	maxBody    = 64 << 10         // bytes of a request
	maxCalls   = 8                // calls of the session that have not been answered
	maxStreams = 16               // streams of events
	maxConns   = 64               // connections
	readTime   = 10 * time.Second // for a request
	writeTime  = 10 * time.Second // for a piece of an answer: a page that takes longer is cut, and resumes
	idleTime   = 2 * time.Minute  // of a connection without a request
)

// ErrOver is the error of Serve when the session has ended.
var ErrOver = errors.New("the session has ended")

// Serve serves browsers at a listener, which it closes, until ctx is done (its error is nil then), or the session has
// ended and pages had a moment to hear of it. The caller must have made sure that the peers of the listener are of its
// own user (see Peers); the session must be closed by the caller, too.
//
// Goroutines: those of net/http, one for each connection; one that waits for the end. All have ended when it returns.
// The one that takes the events of the session is that of New.
func (d *Door) Serve(ctx context.Context, l net.Listener) error {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	serving, stop := context.WithCancel(ctx)
	defer stop()
	server := &http.Server{
		Handler:           d.Handler(),
		ReadHeaderTimeout: readTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		BaseContext:       func(net.Listener) context.Context { return serving },
		ErrorLog:          slog.NewLogLogger(d.cfg.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() {
		var err error
		select {
		case <-ctx.Done():
		case <-d.over: // streams end by themselves, after they have told it
			err = ErrOver
			within, cancel := context.WithTimeout(ctx, time.Second)
			_ = server.Shutdown(within) // what is left is cut below
			cancel()
		}
		stop()
		server.Close()
		ended <- err
	}()
	err := server.Serve(l)
	failed := !errors.Is(err, http.ErrServerClosed)
	if failed { // the listener has
		cut()
	}
	if over := <-ended; !failed {
		err = over
	}
	d.close()
	return err
}

// discard is the log of nobody.
func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
