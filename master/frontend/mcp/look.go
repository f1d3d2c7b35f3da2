// Tools that look.

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/master/talk"
	"sdm/master/text"
	"sdm/master/why"
	"sdm/protocol"
	"sdm/protocol/rank"
)

func (d *desk) why(ctx context.Context, a args) (string, error) {
	if every, _ := time.ParseDuration(a.Every); time.Duration(a.Samples)*every > d.patience { // else it is refused below
		return "", fmt.Errorf("samples and every are more than %v together: take fewer, or sdm_stacks in a session", d.patience)
	}
	if !d.cfg.IsID(a.Of) {
		if a.Of == "" || a.Of[0] == '-' {
			return "", errors.New("of what? (the PID of mpirun, slurm:JOBID, a hang file, or a session)")
		}
		return d.cfg.Why(ctx, Why{Of: a.Of, Samples: a.Samples, Every: a.Every})
	}
	r, err := d.room(ctx, a.Of)
	if err != nil {
		return "", err
	}
	return why.Page(ctx, why.Subject{Talk: r.Talk, Ranks: r.Ranks, All: r.Ranks,
		Samples: a.Samples, Every: a.Every, Try: toolFor(r.ID),
		Next: []string{"sdm_ask session=" + r.ID + " how=locals ranks=... frame=...   values of ranks that stand"}})
}

// toolFor returns the call that gives what a line of the console's language does, in a session.
func toolFor(id string) func(line string) string {
	return func(line string) string {
		ranks, rest := "", line
		if set, after, some := strings.Cut(line, "] "); some && strings.HasPrefix(line, "[") {
			ranks, rest = " ranks="+set[1:], after
		}
		switch rest {
		case "stacks":
			return "sdm_stacks session=" + id + ranks
		case "stacks --samples 10 --every 1s":
			return "sdm_stacks session=" + id + ranks + " samples=10 every=1s"
		case "info locals":
			return "sdm_ask session=" + id + ranks + " how=locals"
		}
		return fmt.Sprintf("sdm_command session=%s line=%q", id, line)
	}
}

func (d *desk) sessions(ctx context.Context, _ args) (string, error) { return d.cfg.Sessions(ctx) }

func (d *desk) stacks(ctx context.Context, a args) (string, error) {
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	c := session.Call{Command: "stacks", Ranks: a.Ranks, Args: protocol.Args{By: a.By, Samples: a.Samples, Every: a.Every}}
	y := &reply{r: r}
	if err := d.answer(ctx, y, c, ""); err != nil {
		return "", err
	}
	return y.text(a.Budget, "sdm_stacks with fewer ranks, by=function, or a larger budget"), nil
}

// answer asks the ranks and adds what they say.
func (d *desk) answer(ctx context.Context, y *reply, c session.Call, label string) error {
	if err := d.permit(&c); err != nil {
		return err
	}
	x, err := d.askRanks(ctx, y.r, c)
	if err != nil {
		return err
	}
	y.answer(text.Asked{Label: label, Format: c.Args.Format}, x)
	return nil
}

// asks are the commands of the values of how of sdm_ask, and whether they take an expression. It is read only.
var asks = map[string]struct {
	command string
	takes   bool
}{
	"value": {"print", true}, "diff": {"diff", true}, "stat": {"stat", true},
	"locals": {"info locals", false}, "args": {"info args", false}, "list": {"list", false},
}

// maxExprs bounds the expressions of a call.
const maxExprs = 32

func (d *desk) ask(ctx context.Context, a args) (string, error) {
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	how, known := asks[cmp.Or(a.How, "value")]
	switch {
	case !known:
		return "", fmt.Errorf("how %q: one of %s", protocol.Clip(a.How), hows["sdm_ask"])
	case how.takes && len(a.Expr) == 0:
		return "", errors.New("expr is missing: expressions of the program's language (how=locals needs none)")
	case len(a.Expr) > maxExprs:
		return "", fmt.Errorf("at most %d expressions a call", maxExprs)
	case !how.takes:
		a.Expr = []string{""}
	}
	y := &reply{r: r}
	for _, expr := range a.Expr {
		c := session.Call{Command: how.command, Ranks: a.Ranks,
			Args: protocol.Args{Expr: expr, Pure: how.takes, Thread: a.Thread, Frame: a.Frame}}
		if how.command == "list" {
			c.Args = protocol.Args{}
		}
		if err := d.answer(ctx, y, c, expr); err != nil {
			return "", err
		}
	}
	if running := y.r.States().In(session.Running); !running.IsEmpty() {
		y.body.WriteString("running: " + text.Ranks(running) + " (sdm_resume how=interrupt stops them; sdm_stacks does not)\n")
	}
	return y.text(a.Budget, "fewer expressions or ranks, how=stat, or a larger budget"), nil
}

func (d *desk) wait(ctx context.Context, a args) (string, error) {
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	if a.Wait > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(a.Wait*float64(time.Second)))
		defer cancel()
		ctx = limited
	}
	y := &reply{r: r}
	if a.Request != 0 {
		if a.Cancel {
			if err := r.Cancel(ctx, protocol.RequestID(a.Request)); err != nil {
				return "", err
			}
		}
		x, err := r.Await(ctx, protocol.RequestID(a.Request))
		if err != nil {
			return "", err
		}
		y.answer(text.Asked{}, x)
		return y.text(a.Budget, "a larger budget"), nil
	}
	ranks, err := r.set(a.Ranks)
	if err != nil {
		return "", err
	}
	if a.Cursor == 0 {
		a.Cursor = r.told.Load()
	}
	d.stand(ctx, y, ranks, a.For, a.Cursor)
	return y.text(a.Budget, "sdm_wait with this cursor and fewer ranks, or a larger budget"), nil
}

// stand waits until ranks stand, as wanted, and adds how they do.
func (d *desk) stand(ctx context.Context, y *reply, ranks rank.Set, wanted string, cursor uint64) {
	var states *session.States
	var err error
	switch wanted {
	case "output":
		states, err = y.r.Wrote(ctx, cursor)
	case "any":
		states, err = y.r.Reach(ctx, func(s *session.States) bool {
			return s.In(session.Stopped).Union(s.Ended()).Intersects(ranks)
		})
	default:
		states, err = y.r.Reach(ctx, func(s *session.States) bool { return s.NoneRuns(ranks) })
	}
	y.stood(ranks, states, err, cursor)
}

// settle waits until ranks that were resumed stand, or some of them while the others run on, and adds how they do.
func (d *desk) settle(ctx context.Context, y *reply, ranks rank.Set, cursor uint64) {
	states, all, err := y.r.Settle(ctx, ranks, cursor, d.quiet)
	y.stood(ranks, states, err, cursor)
	if err == nil && !all {
		y.body.WriteString("some stand, and the others run on or wait for them (sdm_why of=" + y.r.ID + " tells; sdm_wait waits for all)\n")
	}
}

// stood adds how ranks stand, and what happened after a cursor. err is why that is not as wanted.
func (y *reply) stood(ranks rank.Set, states *session.States, err error, cursor uint64) {
	y.asked = max(y.asked, ranks.Len())
	y.states(ranks, states)
	switch {
	case errors.Is(err, talk.ErrOver):
		y.body.WriteString("the session has ended\n")
	case err != nil:
		y.body.WriteString("not as wanted yet (sdm_wait goes on; sdm_resume how=interrupt stops them; sdm_stacks looks)\n")
	}
	y.since(cursor, ranks)
}

// set returns a set of ranks of which no rank need be asked.
func (r *room) set(s string) (rank.Set, error) {
	states := r.States()
	set, err := rank.Parse(cmp.Or(s, "all"), rank.Env{All: states.All(), Group: states.Lookup})
	if err == nil && set.IsEmpty() {
		err = fmt.Errorf("there are no ranks in %s", protocol.Clip(s))
	}
	return set, err
}

// deadly are the commands that may end ranks: they are for ranks that the agent has started. It is read only.
var deadly = []string{"kill", "run", "signal"}

func (d *desk) command(ctx context.Context, a args) (string, error) {
	if word, rest, _ := strings.Cut(strings.TrimSpace(a.Line), " "); word == "help" {
		return helpOn(rest)
	}
	r, err := d.room(ctx, a.Session)
	if err != nil {
		return "", err
	}
	cmd, c, err := parsed(a.Line)
	if err == nil {
		err = d.permit(&c)
	}
	if err == nil && slices.Contains(deadly, c.Command) && !r.own && d.cfg.Allow < protocol.Change {
		err = fmt.Errorf("%s: this sdm mcp has not started these ranks (--allow change, which only the user can give)", c.Command)
	}
	if err != nil {
		return "", err
	}
	y, cursor := &reply{r: r}, r.Next()
	x, err := d.askRanks(ctx, r, c)
	if err != nil {
		return "", err
	}
	y.answer(text.Asked{Label: cmd.Label, Format: cmd.Args.Format, Export: cmd.Export, Explain: cmd.Args.Explain}, x)
	if info, _ := protocol.LookupCommand(c.Command); info.Resumes {
		d.settle(ctx, y, x.Results(), cursor)
	}
	return y.text(a.Budget, "fewer ranks, or a larger budget"), nil
}
