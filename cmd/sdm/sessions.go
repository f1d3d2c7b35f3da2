// sdm sessions: the live sessions of this user.

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/sessions"
	"sdm/master/frontend/console"
	"sdm/master/frontend/rpc"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// sessionsOptions are the values of the flags of sdm sessions.
type sessionsOptions struct{ json bool }

// flags returns the flags of sdm sessions.
func (o *sessionsOptions) flags() *flagSet {
	f := newFlags("sessions", usageSessions)
	f.foot = "" // its exit statuses are its own
	f.SetInterspersed(true)
	f.add("Flags", func(f *pflag.FlagSet) { f.BoolVar(&o.json, "json", false, "one JSON object a line") })
	return f
}

// maxList is how long the files of the sessions are waited for: the home directory may not answer.
const maxList = 10 * time.Second

// plan checks the arguments.
func (o *sessionsOptions) plan(a *app, f *flagSet) (*plan, error) {
	if f.NArg() > 0 {
		return nil, fmt.Errorf("sdm sessions takes no argument, not %q", f.Arg(0))
	}
	return &plan{alone: func() console.Status { return a.sessions(*o) }}, nil
}

// sessions lists the sessions.
func (a *app) sessions(o sessionsOptions) console.Status {
	l := newLifetime(0)
	defer l.stop()
	ctx, cancel := context.WithTimeoutCause(l.ctx, maxList, fmt.Errorf("no answer in %v", maxList))
	found, troubles := sessions.List(ctx)
	cancel()
	for _, t := range troubles {
		a.remark("passed over: " + text.Clean(t.Error()))
	}
	if err := a.list(l.ctx, o, found, askSession); err != nil {
		return a.fail(console.StatusRankFailed, err)
	}
	return console.StatusGood
}

// list asks and shows sessions.
func (a *app) list(ctx context.Context, o sessionsOptions, found []sessions.Found, ask sessionAsker) error {
	write := sessionTable
	if o.json {
		write = sessionLines
	}
	_, err := a.out.Write(write(askSessions(ctx, found, ask), time.Now()))
	return err
}

// sessionAsker asks a session of this host, until its context ends.
type sessionAsker func(context.Context, sessions.State) (session.Summary, error)

// askSession is a sessionAsker.
func askSession(ctx context.Context, s sessions.State) (session.Summary, error) {
	c, err := rpc.Join(ctx, s.Addr(), rpc.Options{Wait: maxAsk})
	if err != nil {
		return session.Summary{}, err
	}
	defer c.Cut()
	return c.Summary(ctx)
}

// Bounds of asking sessions.
const (
	maxAsk   = 2 * time.Second // for all: one that does not answer is shown as on file
	maxAsked = 16              // sessions that are asked at the same time
)

// sessionRow is a session in the list.
type sessionRow struct {
	sessions.Found
	told   bool // summary is there
	silent error
	session.Summary
}

// askSessions asks all live sessions at the same time. The result is in the order of found.
func askSessions(ctx context.Context, found []sessions.Found, ask sessionAsker) []sessionRow {
	ctx, cancel := context.WithTimeoutCause(ctx, maxAsk, fmt.Errorf("no answer in %v", maxAsk))
	defer cancel()
	rows, places := make([]sessionRow, len(found)), make(chan struct{}, maxAsked)
	var all sync.WaitGroup
	for i := range found {
		row := &rows[i]
		row.Found = found[i]
		if row.Liveness != sessions.Live {
			continue
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			row.Summary, row.silent = ask(ctx, row.State)
			if row.silent != nil && ctx.Err() != nil {
				row.silent = context.Cause(ctx)
			}
			row.told = row.silent == nil
		})
	}
	all.Wait()
	return rows
}

// sessionTable writes sessions for people.
func sessionTable(rows []sessionRow, now time.Time) []byte {
	if len(rows) == 0 {
		return []byte("no sessions\n")
	}
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tHOST\tJOB\tPROGRAM\tRANKS\tSINCE\tWHO")
	for _, r := range rows {
		s := r.State
		cells := []string{s.ID, s.Host, s.Job, s.Program, r.ranks(), since(s.Began, now), r.who()}
		for i, cell := range cells {
			cells[i] = cmp.Or(strings.ReplaceAll(text.Clean(cell), "\t", " "), "-")
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	w.Flush() // to memory
	return b.Bytes()
}

// ranks returns the ranks of a session, by state if it has told.
func (r sessionRow) ranks() string {
	var states []string
	for _, s := range r.States {
		states = append(states, fmt.Sprintf("%d %s", s.Ranks.Len(), s.State))
	}
	return cmp.Or(strings.Join(states, ", "), r.State.Ranks)
}

// who returns who is in a session, or what is known in place of that.
func (r sessionRow) who() string {
	switch {
	case r.Liveness == sessions.Gone:
		return "it has ended"
	case r.Liveness == sessions.Elsewhere:
		return "ask on " + r.State.Host
	case r.silent != nil:
		return r.silent.Error()
	case r.told && len(r.Fronts) == 0:
		return "nobody"
	}
	var names []string
	for _, f := range r.Fronts {
		name := f.Name
		if f.Host != "" {
			name += " on " + f.Host
		}
		if f.Door != "" {
			name += " (" + f.Door + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// since returns a time, without the date if that is today's.
func since(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// sessionLines writes a JSON object for each session.
func sessionLines(rows []sessionRow, _ time.Time) []byte {
	var b []byte
	for _, r := range rows {
		s := r.State
		line := struct {
			Event    string               `json:"event"`
			ID       string               `json:"id"`
			Liveness sessions.Liveness    `json:"liveness"`
			Kind     sessions.Kind        `json:"kind"`
			Host     string               `json:"host"`
			PID      int                  `json:"pid"`
			Socket   string               `json:"socket"`
			Job      string               `json:"job,omitempty"`
			Program  string               `json:"program"`
			Ranks    string               `json:"ranks"`
			Began    time.Time            `json:"began"`
			Keep     float64              `json:"keep"` // seconds
			States   []session.StateRanks `json:"states,omitempty"`
			Fronts   []protocol.FrontEnd  `json:"fronts,omitempty"`
			Silent   string               `json:"silent,omitempty"`
		}{
			Event: "session", ID: s.ID, Liveness: r.Liveness, Kind: s.Kind, Host: s.Host, PID: s.PID, Socket: s.Socket,
			Job: text.Clean(s.Job), Program: text.Clean(s.Program), Ranks: text.Clean(s.Ranks),
			Began: s.Began, Keep: s.Keep.Seconds(), States: r.States,
		}
		for _, f := range r.Fronts {
			line.Fronts = append(line.Fronts, f.Clean())
		}
		if r.silent != nil {
			line.Silent = text.Clean(r.silent.Error())
		}
		b = append(append(b, canonical.JSON(line)...), '\n')
	}
	return b
}
