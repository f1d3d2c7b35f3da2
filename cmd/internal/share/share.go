// Package share holds a session that front ends join and leave, and ends it when it has had none for too long.
package share

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/user"

	"sdm/cmd/internal/startup"
	"sdm/master/frontend/rpc"
	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol"
)

// Door lets front ends into one session. Serve may be called concurrently, once for each connection.
type Door struct {
	// Open returns the hub that a front end joins and what is told of the tree. It may build the session first; note
	// tells the front end of the progress.
	Open func(ctx context.Context, s rpc.Setup, note func(string)) (*hub.Hub, session.Report, error)
	// Joined is called when a front end has joined; nil: it is not.
	Joined func(*hub.Hub)
	// Summary is rpc.Options.Summary.
	Summary func() session.Summary
	// Job is rpc.Options.Job.
	Job string
	Log *slog.Logger
}

// Serve serves the front end of a connection until it leaves, the session ends or ctx is done.
func (d Door) Serve(ctx context.Context, c *rpc.Conn) {
	var view *hub.View
	open := func(ctx context.Context, s rpc.Setup, note func(string)) (session.Session, session.Report, error) {
		h, report, err := d.Open(ctx, s, note)
		if err != nil {
			return nil, report, err
		}
		var front protocol.FrontEnd
		if s.Front != nil {
			front = *s.Front
		}
		v, err := h.Join(front, s.Cursor)
		if err != nil {
			return nil, report, err
		}
		view = v
		if d.Joined != nil {
			d.Joined(h)
		}
		return v, report, nil
	}
	err := rpc.Serve(ctx, c, open, rpc.Options{Build: startup.Build(), Job: d.Job, Summary: d.Summary, Log: d.Log})
	if err != nil {
		d.Log.Debug("a front end is gone", "err", err)
	}
	if view != nil {
		view.Close(ctx)
	}
}

// OpenLog opens the file of --output-log; nil: there is none.
func OpenLog(path string) (io.WriteCloser, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err // not a *os.File that is nil
	}
	return f, nil
}

// UserName returns the name by which others see the user.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "user"
}
