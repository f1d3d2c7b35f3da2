// The sessions of an agent, and what it has begun.

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/talk"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/sideeffect"
)

// desk turns calls of tools into calls of sessions. All methods may be called from any goroutine.
//
// Goroutines: one for each start, which ends with it or with ctx; leaveAll waits for them.
type desk struct {
	cfg      Config
	ctx      context.Context
	longest  time.Duration // of a call
	patience time.Duration // of the ranks, in a call
	pulse    time.Duration // between two notifications of progress
	quiet    time.Duration // without news, until some ranks that stand are enough
	starting sync.WaitGroup

	mu     sync.Mutex
	rooms  map[string]*room // by the name of the session
	begun  map[string]*deed // by the id of the agent
	joined chan struct{}    // has room for one: who joins a session holds it
	last   string           // the session that was used last
}

// room is a session in which the agent is.
type room struct {
	*talk.Talk
	Target
	own  bool          // this desk has started its ranks
	told atomic.Uint64 // number of the last event that was told
}

// deed is something that is not done twice.
type deed struct {
	same    string // what the id was given for
	from    uint64 // number of the last event before it, of a resume
	resumed rank.Set
	again   bool // it was done before this desk
	done    chan struct{}
	text    string // the answer; this and the others are read after done
	err     error
}

// Bounds of a call.
const (
	longestCall = 25 * time.Second
	rankWait    = 20 * time.Second
	reserve     = time.Second // for the answer
	pulse       = 4 * time.Second
	quiet       = 2 * time.Second
)

func newDesk(ctx context.Context, cfg Config) *desk {
	return &desk{cfg: cfg, ctx: ctx, longest: longestCall - reserve, patience: rankWait, pulse: pulse, quiet: quiet,
		rooms: map[string]*room{},
		begun: map[string]*deed{}, joined: make(chan struct{}, 1)}
}

// leaveAll leaves all sessions.
func (d *desk) leaveAll() {
	d.starting.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.rooms {
		r.Leave(r.Cursor())
	}
	clear(d.rooms)
}

// call executes a tool and returns its text; failed tells that the text is an error.
func (d *desk) call(ctx context.Context, name string, raw json.RawMessage) (said string, failed bool) {
	t, known := toolOf(name)
	if !known || t.needs > d.cfg.Allow {
		return fmt.Sprintf("%s: sdm mcp --allow %s does not have it", text.Clean(name), d.cfg.Allow), true
	}
	var a args
	if len(raw) > 0 {
		if err := protocol.ReadStrictly(raw, &a); err != nil {
			return name + ": " + text.Clean(err.Error()), true
		}
	}
	ctx, cancel := context.WithTimeout(ctx, d.longest)
	defer cancel()
	said, err := d.guarded(name, func() (string, error) { return t.handle(d, ctx, a) })
	if err != nil {
		return text.Clean(explained(name, err)), true
	}
	return said, false
}

// guarded calls a function, with a panic as its error.
func (d *desk) guarded(op string, do func() (string, error)) (said string, err error) {
	if bad, stack := protocol.Guard(op, func() { said, err = do() }); bad != nil {
		d.cfg.Log.Error(bad.Message+": "+protocol.Report, "command", op, "stack", string(stack))
		return "", bad
	}
	return said, err
}

// explained returns an error for the agent, with what to do.
func explained(name string, err error) string {
	var fault *protocol.Fault
	switch {
	case errors.Is(err, context.Canceled):
		return name + ": it was cancelled; what it began goes on"
	case errors.Is(err, context.DeadlineExceeded):
		return name + ": no answer in time; the session goes on (sdm_sessions tells whether it is there)"
	case errors.As(err, &fault) && fault.Kind == protocol.FaultInternal:
		return err.Error() + "; the sessions go on"
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// room returns the session that is meant, and joins it if need be.
func (d *desk) room(ctx context.Context, id string) (*room, error) {
	select {
	case d.joined <- struct{}{}:
		defer func() { <-d.joined }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	if id == "" {
		id = d.last
	}
	r := d.rooms[id]
	d.mu.Unlock()
	if id == "" {
		return nil, errors.New("which session? (sdm_sessions lists them, sdm_start begins one)")
	}
	if r != nil {
		select {
		case <-r.Over(): // it may be there again, or another of that name
			d.forget(r)
		default:
			return r, nil
		}
	}
	t, err := d.cfg.Join(ctx, id)
	if err != nil {
		return nil, err
	}
	r = d.enter(*t, false)
	return r, r.Heard(ctx, t.Snapshot)
}

// enter makes a session one of the agent's.
func (d *desk) enter(t Target, own bool) *room {
	r := &room{Talk: talk.New(t.Session, t.Ranks), Target: t, own: own && t.AtEnd != "detached"}
	d.mu.Lock()
	was := d.rooms[t.ID]
	d.rooms[t.ID], d.last = r, t.ID
	d.mu.Unlock()
	if was != nil {
		was.Leave(was.Cursor())
	}
	return r
}

// standing returns how the ranks of the session stand that was used last, for people who wait.
func (d *desk) standing() string {
	d.mu.Lock()
	r := d.rooms[d.last]
	d.mu.Unlock()
	if r == nil {
		return "waiting"
	}
	words := []string{r.ID + ":"}
	for _, s := range r.States().Summary() {
		words = append(words, fmt.Sprintf("%d %s", s.Ranks.Len(), s.State))
	}
	return text.Clean(strings.Join(words, " "))
}

// forget parts from a session.
func (d *desk) forget(r *room) {
	d.mu.Lock()
	if d.rooms[r.ID] == r {
		delete(d.rooms, r.ID)
	}
	if d.last == r.ID {
		d.last = ""
	}
	d.mu.Unlock()
	r.Leave(r.Cursor())
}

// before tells that an id was given before.
const before = "(this id was given before: nothing was done again)\n"

// maxBegun bounds the deeds that are remembered.
const maxBegun = 1000

// once does something unless its id was given before: then it waits for what was begun. do may last longer than the
// call. The deed is nil if it is not done yet.
func (d *desk) once(ctx context.Context, id, same string,
	do func(context.Context, *deed) (string, error)) (*deed, string, error) {
	switch {
	case id == "":
		return nil, "", errors.New("id is missing: a new word for each intent, so that a repeated call does nothing twice")
	case len(id) > session.MaxOnce:
		return nil, "", fmt.Errorf("an id has at most %d bytes", session.MaxOnce)
	}
	d.mu.Lock()
	x := d.begun[id]
	repeated := x != nil
	switch {
	case repeated && x.same != same:
		d.mu.Unlock()
		return nil, "", fmt.Errorf("id %q was given for something else: take a new word", protocol.Clip(id))
	case !repeated && len(d.begun) >= maxBegun:
		d.mu.Unlock()
		return nil, "", errors.New("too many ids: start sdm mcp again; the sessions go on")
	case !repeated:
		x = &deed{same: same, done: make(chan struct{})}
		d.begun[id] = x
		d.starting.Go(func() {
			defer close(x.done)
			x.text, x.err = d.guarded("", func() (string, error) { return do(d.ctx, x) })
		})
	}
	d.mu.Unlock()
	select {
	case <-x.done:
		switch {
		case x.err != nil && repeated:
			return x, "", fmt.Errorf("%w (it was tried with this id before: a new id tries again)", x.err)
		case x.err == nil && (repeated || x.again):
			return x, x.text + before, nil
		}
		return x, x.text, x.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, "", ctx.Err()
		}
		return nil, "not done yet, and goes on: repeat the call with the same id to wait for it\n", nil
	}
}

// askRanks asks the ranks of a session.
func (d *desk) askRanks(ctx context.Context, r *room, c session.Call) (talk.Answer, error) {
	if c.Wait == 0 {
		c.Wait = d.patience
	}
	return r.Ask(ctx, c)
}

// permit refuses a call for which more is needed than is allowed, and makes looks pure.
func (d *desk) permit(c *session.Call) error {
	info, ok := protocol.LookupCommand(c.Command)
	if !ok {
		return fmt.Errorf("there is no command %q", protocol.Clip(c.Command))
	}
	if d.cfg.Allow < protocol.Change && info.Takes("pure") {
		c.Args.Pure = true
	}
	needs := protocol.PermissionFor(info, c.Args)
	if slices.Contains(outside, c.Command) || !c.Args.Pure && slices.ContainsFunc(expressions(c.Args), changes) {
		needs = protocol.Change
	}
	if needs > d.cfg.Allow {
		return fmt.Errorf("%s needs sdm mcp --allow %s, which only the user can give", c.Command, needs)
	}
	return nil
}

// outside are the commands that change the program or may do anything, whatever their row says. It is read only.
var outside = []string{"gdb", "mi", "call", "set variable", "dump memory", "send", "commands"}

// expressions returns the arguments that gdb evaluates.
func expressions(a protocol.Args) []string {
	return append([]string{a.Expr, a.Condition, a.Location, a.From, a.To}, a.Exprs...)
}

// changes reports whether the evaluation of an expression may change something.
func changes(expr string) bool { return sideeffect.Of(expr, false) }

// parsed returns the call that a line of the console stands for.
func parsed(line string) (language.Command, session.Call, error) {
	cmd, err := language.ParseOne(line)
	if err != nil {
		return cmd, session.Call{}, err
	}
	if why := cmd.PromptOnly(); why != "" {
		return cmd, session.Call{}, errors.New(why)
	}
	return cmd, session.Call{Command: cmd.Do, Ranks: cmd.Set, Args: cmd.Args}, nil
}
