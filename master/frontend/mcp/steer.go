// Tools that start, steer and end.

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/talk"
	"sdm/master/text"
	"sdm/master/why"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/digest"
)

func (d *desk) start(ctx context.Context, a args) (string, error) {
	ways := 0
	for _, given := range []bool{len(a.Run) > 0, a.Attach != "", len(a.Core) > 0} {
		if given {
			ways++
		}
	}
	switch {
	case ways != 1:
		return "", errors.New("one of run, attach and core")
	case strings.HasPrefix(a.Attach, "-"), len(a.Core) == 1:
		return "", errors.New("attach takes a PID or a job, core a program and then its core files")
	}
	s := Start{Run: a.Run, Attach: a.Attach, Core: a.Core, NP: a.NP, StopAt: a.StopAt, Cwd: a.Cwd, Ranks: a.Ranks,
		Env: a.Env}
	same := "start " + string(canonical.JSON(s))
	s.Intent = digest.Text(digest.OfText(a.ID + " " + same))
	_, said, err := d.once(ctx, a.ID, same, func(ctx context.Context, x *deed) (string, error) {
		t, err := d.cfg.Begun(ctx, s.Intent)
		switch {
		case err != nil:
			return "", err
		case t != nil:
			x.again = true
		default:
			if t, err = d.cfg.Start(ctx, s); err != nil {
				return "", err
			}
		}
		r := d.enter(*t, true)
		if err := r.Heard(ctx, t.Snapshot); err != nil {
			return "", err
		}
		return d.open(ctx, r, s.StopAt != "none")
	})
	return said, err
}

// open gives the first call of a session, and waits until its ranks stand if they are to stop.
func (d *desk) open(ctx context.Context, r *room, stops bool) (string, error) {
	y, ranks := &reply{r: r}, r.Ranks
	if r.First != nil {
		first := *r.First
		first.Wait = language.NoLimit
		x, err := r.Ask(ctx, first)
		if err == nil && x.Results().IsEmpty() {
			err = errors.New(cmp.Or(strings.TrimSpace(why.Said(x)), "no rank could be started"))
		}
		if err != nil {
			d.forget(r)
			return "", err
		}
		if ranks = x.Results(); len(x.Groups) > 1 {
			y.answer(text.Asked{}, x)
		}
	}
	limit := d.patience
	if !stops {
		limit = d.quiet
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	d.stand(ctx, y, ranks, "", 0)
	return y.text(0, "sdm_wait"), nil
}

func (d *desk) breaks(ctx context.Context, a args) (string, error) {
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	var calls []session.Call
	add := func(command string, x protocol.Args) {
		calls = append(calls, session.Call{Command: command, Ranks: a.Ranks, Args: x})
	}
	switch {
	case a.At != "" && a.Watch != "", a.At == "" && len(a.Log) > 0, a.If != "" && a.At == "" && a.Watch == "":
		return "", errors.New("at (with log, if), or watch (with if), or delete")
	case len(a.Log) > 0:
		add("log", protocol.Args{Location: a.At, Exprs: a.Log, Condition: a.If})
	case a.At != "":
		add("break", protocol.Args{Location: a.At, Condition: a.If})
	case a.Watch != "":
		add("watch", protocol.Args{Expr: a.Watch, Condition: a.If})
	}
	if len(a.Delete) > 0 {
		add("delete", protocol.Args{Breakpoints: a.Delete})
	}
	add("info breakpoints", protocol.Args{})
	y := &reply{r: r}
	for _, c := range calls {
		if err := d.answer(ctx, y, c, ""); err != nil {
			return "", err
		}
	}
	return y.text(a.Budget, "fewer ranks, or a larger budget"), nil
}

func (d *desk) resume(ctx context.Context, a args) (string, error) {
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	c := session.Call{Command: a.How, Ranks: a.Ranks, Wait: d.patience, Once: a.ID}
	switch a.How {
	case "continue", "next", "step":
		c.Args.Count = a.Count
	case "until":
		c.Args.Location = a.Until
	case "finish", "interrupt":
	default:
		return "", fmt.Errorf("how %q: one of %s", protocol.Clip(a.How), hows["sdm_resume"])
	}
	if err := d.permit(&c); err != nil {
		return "", err
	}
	whole, err := r.set(a.Ranks)
	if err != nil {
		return "", err
	}
	a.Session = r.ID
	same := fmt.Sprintf("resume %s %s %s %s %d", a.Session, a.How, a.Ranks, a.Until, a.Count)
	limit := time.Duration(a.Wait * float64(time.Second))
	if a.Wait <= 0 || limit > d.patience {
		limit = d.patience
	}
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	x, said, err := d.once(waiting, a.ID, same, func(ctx context.Context, x *deed) (string, error) {
		x.from = r.Next()
		done, err := r.Ask(ctx, c)
		if fault := (*protocol.Fault)(nil); errors.As(err, &fault) && fault.Before != 0 {
			x.again, x.resumed = true, whole
			return "", nil
		}
		x.resumed = done.Results()
		return why.Said(done), err
	})
	if err != nil || x == nil {
		return said, err
	}
	y := &reply{r: r}
	y.body.WriteString(said)
	if a.How == "interrupt" || x.again {
		states, err := r.Reach(waiting, func(s *session.States) bool { return s.NoneRuns(x.resumed) })
		y.stood(x.resumed, states, err, x.from)
	} else {
		d.settle(waiting, y, x.resumed, x.from)
	}
	return y.text(a.Budget, "sdm_wait with this cursor, or a larger budget"), nil
}

func (d *desk) end(ctx context.Context, a args) (string, error) {
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	switch a.How {
	case "leave":
		d.forget(r)
		return r.ID + " was left and goes on; a call with session=" + r.ID + " comes back\n", nil
	case "detach", "kill":
		if a.How == "kill" && r.AtEnd == "detached" {
			return "", errors.New("kill: sdm has attached to these ranks, which are somebody's job (how=detach lets them run on)")
		}
		if a.How == "detach" && r.AtEnd == "killed" {
			return "", errors.New("detach: sdm has started these ranks, which end with the session (how=kill, or leave)")
		}
		if a.How == "kill" && !r.own && d.cfg.Allow < protocol.Change {
			return "", errors.New("kill: this sdm mcp has not started the session (--allow change, which only the user can give)")
		}
	default:
		return "", fmt.Errorf("how %q: one of %s", protocol.Clip(a.How), hows["sdm_end"])
	}
	if _, err := d.askRanks(ctx, r, session.Call{Command: "quit"}); err != nil && !errors.Is(err, talk.ErrOver) {
		return "", err
	}
	select {
	case <-r.Over():
	case <-ctx.Done():
	}
	d.forget(r)
	return r.ID + " has ended; its ranks were " + cmp.Or(r.AtEnd, "let go") + "\n", nil
}
