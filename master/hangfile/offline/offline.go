// Package offline provides the session of a hang file: what was asked of the job then is answered again.
package offline

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sdm/master/hangfile"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// Session is a session.Session over a hang file, for any front end. It answers stacks, info hosts, ranks, the
// commands in Values, info file, info output, expand, and focus, group and groups; it refuses all others. Its first
// events are the states of the ranks. All methods may be called from any goroutine.
type Session struct {
	file   *hangfile.File
	stream *session.Stream
	states *session.States

	ending sync.WaitGroup // of the goroutine that quit starts; it ends when the consumer has taken done, or is gone

	mu     sync.Mutex
	last   protocol.RequestID
	groups map[string]rank.Set
	names  []string // of groups, sorted
	shown  []shown  // the last answers, for expand
}

// shown are the answers to a call.
type shown struct {
	id      protocol.RequestID
	command string
	events  []session.Event
}

// keptShown is the number of answers that expand can show.
const keptShown = 32

// New returns the session of a file, which must not be changed afterwards.
func New(f *hangfile.File) *Session {
	s := &Session{file: f, stream: session.NewStream(), states: session.NewStates(f.Ranks), groups: map[string]rank.Set{}}
	for _, state := range f.States {
		e := stateEvent(state)
		s.states.Feed(e)
		s.stream.Push(e)
	}
	return s
}

// stateEvent returns the event after which ranks are in a state. Ranks that ran are watched: they have no debugger, and
// nothing waits for them to stop.
func stateEvent(s hangfile.State) session.Event {
	g := protocol.Group{Ranks: s.Ranks, Body: []byte("{}")}
	switch s.State {
	case session.Stopped:
		g.Kind = protocol.KindStopped
		stop := protocol.Stop{Reason: s.Reason, Signal: s.Signal, Breakpoint: s.Breakpoint}
		if s.Func != "" {
			stop.Frame = &protocol.Frame{Func: s.Func}
			if file, line, ok := strings.Cut(s.Where, ":"); ok {
				stop.Frame.File = file
				stop.Frame.Line, _ = strconv.Atoi(line) // 0 if it is no number
			} else {
				stop.Frame.From = s.Where
			}
		}
		g.Body = canonical.JSON(stop)
	case session.Exited:
		g.Kind = protocol.KindExited
		x := protocol.Exit{Unknown: s.Code == nil}
		if s.Code != nil {
			x.Code = *s.Code
		}
		g.Body = canonical.JSON(x)
	case session.Signalled:
		g.Kind, g.Body = protocol.KindSignalled, canonical.JSON(protocol.Exit{Signal: s.Signal})
	case session.Detached:
		g.Kind = protocol.KindDetached
	case session.Lost:
		g.Kind, g.Body = protocol.KindLost, canonical.JSON(protocol.Missing{Cause: s.Cause, Host: s.Host})
	default:
		g.Kind = protocol.KindWatched
	}
	return session.NewEvent(g)
}

// Events returns the stream.
func (s *Session) Events() <-chan session.Event { return s.stream.Events() }

// Close ends the stream.
func (s *Session) Close(ctx context.Context) error {
	s.stream.End(ctx)
	s.ending.Wait()
	return nil
}

// Do answers a call at once, or refuses it.
func (s *Session) Do(_ context.Context, c session.Call) (protocol.RequestID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Command == "quit" {
		id := s.answer(c.Command, rank.Set{}, nil)
		s.ending.Go(func() { s.stream.End(context.Background()) })
		return id, nil
	}
	text := c.Ranks
	if c.Args.Set != "" {
		text = c.Args.Set
	}
	ranks, err := rank.Parse(cmp.Or(text, "all"), rank.Env{All: s.file.Ranks, Group: s.group, Live: s.live})
	switch {
	case err != nil:
		return 0, usage(c.Command, "", "%s", err)
	case ranks.IsEmpty():
		return 0, usage(c.Command, "", "there are no ranks in %s", protocol.Clip(text))
	}
	events, fault := s.events(c, ranks)
	if fault != nil {
		return 0, fault
	}
	return s.answer(c.Command, ranks, events), nil
}

func usage(op, hint, format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Op: op, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// answer sends the answers to a call, each with its number, and done.
func (s *Session) answer(command string, ranks rank.Set, events []session.Event) protocol.RequestID {
	s.last++
	done := &session.Done{Asked: ranks.Len()}
	var answered rank.Set
	for _, e := range events {
		e.ID, e.Command = s.last, command
		switch e.Group.Kind {
		case protocol.KindResult:
			answered = answered.Union(e.Group.Ranks)
		case protocol.KindFault:
			answered = answered.Union(e.Group.Ranks)
			done.Faults += e.Group.Ranks.Len()
		case protocol.KindMissing:
			done.Missing = done.Missing.Union(e.Group.Ranks)
		case protocol.KindLost:
			done.Lost = done.Lost.Union(e.Group.Ranks)
		}
		s.stream.Push(e)
	}
	done.Answered = answered.Len()
	if s.shown = append(s.shown, shown{s.last, command, events}); len(s.shown) > keptShown {
		s.shown = s.shown[1:]
	}
	s.stream.Push(session.Event{Name: session.DoneName, ID: s.last, Command: command, Done: done})
	return s.last
}

// events returns the answers to a call.
func (s *Session) events(c session.Call, ranks rank.Set) ([]session.Event, *protocol.Fault) {
	switch c.Command {
	case "focus":
		return []session.Event{named("", ranks)}, nil
	case "group":
		return s.setGroup(c.Args.Name, ranks)
	case "groups":
		var all []session.Event
		for _, name := range s.names {
			all = append(all, named(name, s.groups[name]))
		}
		return all, nil
	case "ranks":
		return s.status(ranks), nil
	case "info file":
		return s.about(), nil
	case "info output":
		return s.output(ranks), nil
	case "info hosts":
		return orFault(c.Command, narrowed(s.file.Hosts, ranks), ranks, "the file does not tell the hosts"), nil
	case "stacks":
		return s.stacks(c.Args, ranks)
	case "expand":
		for _, x := range s.shown {
			if x.id == c.Args.Of {
				return narrowed(x.events, ranks), nil
			}
		}
		return nil, usage(c.Command, "give the command again", "there is no such answer any more")
	}
	return s.value(c, ranks)
}

// value answers a command that was given to the job.
func (s *Session) value(c session.Call, ranks rank.Set) ([]session.Event, *protocol.Fault) {
	key := func(a protocol.Args) string {
		a.Limit, a.Patience = 0, 0
		return string(canonical.JSON(a))
	}
	for _, v := range s.file.Values {
		if v.Command == c.Command && key(v.Args) == key(c.Args) {
			return narrowed(v.Answers, ranks), nil
		}
	}
	when := s.file.When.Format(hangfile.TimeFormat)
	return nil, usage(c.Command, "info file tells what is in it", "the job is not here: this is a file of %s", when)
}

// narrowed returns the parts of events that concern some ranks, or none in particular.
func narrowed(events []session.Event, ranks rank.Set) (all []session.Event) {
	for _, e := range events {
		if e.Group.Ranks.IsEmpty() {
			all = append(all, e)
			continue
		}
		if g, ok := e.Group.Narrow(ranks); ok {
			e.Group = g
			all = append(all, e)
		}
	}
	return all
}

// orFault adds a fault for the ranks without an answer.
func orFault(op string, events []session.Event, ranks rank.Set, message string) []session.Event {
	rest := ranks
	for _, e := range events {
		rest = rest.Minus(e.Group.Ranks)
	}
	if rest.IsEmpty() {
		return events
	}
	f := protocol.Fault{Kind: protocol.FaultState, Op: op, Message: message}
	return append(events, session.NewEvent(protocol.Group{Kind: protocol.KindFault, Ranks: rest, Body: canonical.JSON(f)}))
}

// result returns an answer.
func result(ranks rank.Set, body any) session.Event {
	return session.NewEvent(protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: canonical.JSON(body)})
}

// named is the answer of focus, group and groups, as the master gives it.
func named(name string, set rank.Set) session.Event {
	return result(set, struct {
		Name string `json:"name,omitempty"`
		Set  string `json:"set"`
	}{name, set.String()})
}

// maxNamedSets bounds the named sets.
const maxNamedSets = 4096

// setGroup names a set.
func (s *Session) setGroup(name string, ranks rank.Set) ([]session.Event, *protocol.Fault) {
	if err := rank.CheckName(name); err != nil {
		return nil, usage("group", "use letters, digits and _", "%s", err)
	}
	if _, taken := s.states.Lookup(name); taken {
		return nil, usage("group", "take another name", "@%s already means the ranks in that state", name)
	}
	if at, known := slices.BinarySearch(s.names, name); !known {
		if len(s.names) >= maxNamedSets {
			return nil, usage("group", "use a name again", "there are already %d groups", maxNamedSets)
		}
		s.names = slices.Insert(s.names, at, name)
	}
	s.groups[name] = ranks
	return []session.Event{named(name, ranks)}, nil
}

// status answers ranks: the states as they were.
func (s *Session) status(ranks rank.Set) (all []session.Event) {
	rest := ranks
	for _, x := range s.file.States {
		if on := x.Ranks.Intersect(ranks); !on.IsEmpty() {
			all, rest = append(all, result(on, x.Status)), rest.Minus(on)
		}
	}
	if !rest.IsEmpty() {
		all = append(all, result(rest, session.Status{State: session.Unstarted}))
	}
	return all
}
