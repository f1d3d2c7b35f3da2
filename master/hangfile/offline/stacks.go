// The stacks of a file, and sets of ranks that they determine.

package offline

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// stacks answers the command stacks with the samples that were taken then, however many are asked for. Notes say what
// the file does not have.
func (s *Session) stacks(a protocol.Args, ranks rank.Set) ([]session.Event, *protocol.Fault) {
	switch a.By {
	case "", "function", "line":
	case "address":
		if hasAddress := func(f stack.Frame) bool { return f.Addr != "" }; s.having(hasAddress).IsEmpty() {
			return nil, usage("stacks", "stacks function or stacks line", "the file has no addresses")
		}
	default:
		return nil, usage("stacks", "give function, line or address", "%q is no granularity", protocol.Clip(a.By))
	}
	events := narrowed(s.file.Stacks, ranks)
	for i, e := range events {
		if e.Group.Stack != nil && a.By != "" {
			events[i].Group.Stack = e.Group.Stack.By(a.By)
		}
	}
	events = orFault("stacks", events, ranks, "the file has no stacks of these ranks")
	note := func(text string) {
		body := canonical.JSON(protocol.Note{Text: text})
		events = append(events, session.NewEvent(protocol.Group{Kind: protocol.KindNote, Ranks: ranks, Body: body}))
	}
	if a.AllThreads && !s.having(func(f stack.Frame) bool { return f.Func == stack.Helpers }).IsEmpty() {
		note("the file has no stacks of helper threads")
	}
	if a.Children && s.having(stack.Frame.IsProcess).IsEmpty() {
		note("the file has no stacks of processes that the ranks have started")
	}
	if a.Explain {
		note("the file does not tell where arguments of calls were found, unless it was asked for then")
	}
	return events, nil
}

// having returns the ranks with a wanted frame.
func (s *Session) having(wanted func(stack.Frame) bool) (in rank.Set) {
	for _, e := range s.file.Stacks {
		in = in.Union(e.Group.Stack.Having(wanted))
	}
	return in
}

// group returns a named set, or the set of ranks in a state.
func (s *Session) group(name string) (rank.Set, bool) {
	if set, ok := s.groups[name]; ok {
		return set, true
	}
	if in := s.inState(session.State(name)); !in.IsEmpty() {
		return in, true
	}
	return s.states.Lookup(name)
}

// inState returns the ranks in a state, as in the file.
func (s *Session) inState(state session.State) (in rank.Set) {
	for _, x := range s.file.States {
		if x.State == state {
			in = in.Union(x.Ranks)
		}
	}
	return in
}

// live returns @fn:NAME, @at:FILE:LINE and @host:NAME.
func (s *Session) live(name string) (rank.Set, error) {
	kind, arg, _ := strings.Cut(name, ":")
	switch {
	case kind == "fn" && arg != "":
		return s.having(func(f stack.Frame) bool { return protocol.IsFunction(f.Func, arg) }), nil
	case kind == "at" && arg != "":
		return s.at(arg)
	case kind == "host" && arg != "":
		return s.on(arg)
	}
	return rank.Set{}, errors.New("a hang file has no such set; it has @fn:FUNCTION, @at:FILE:LINE, @host:HOSTS and states")
}

// at returns the ranks with a thread whose innermost frame with source is at FILE:LINE.
func (s *Session) at(place string) (in rank.Set, err error) {
	i := strings.LastIndexByte(place, ':')
	line := 0
	if i > 0 {
		line, err = strconv.Atoi(place[i+1:])
	}
	if i <= 0 || err != nil || line <= 0 {
		return in, errors.New("write it as @at:FILE:LINE")
	}
	file := place[:i]
	hit := func(f stack.Frame) bool {
		return f.Line == line && (f.File == file || strings.HasSuffix(f.File, "/"+file))
	}
	var walk func(n *stack.Node)
	walk = func(n *stack.Node) {
		if hit(n.Frame) && innermost(n) {
			in = in.Union(n.Ranks)
		}
		for _, c := range n.Children() {
			walk(c)
		}
	}
	for _, e := range s.file.Stacks {
		for _, root := range e.Group.Stack.Roots() {
			walk(root)
		}
	}
	return in, nil
}

// innermost reports whether no frame below a node has source.
func innermost(n *stack.Node) bool {
	return !slices.ContainsFunc(n.Children(), func(c *stack.Node) bool { return c.Frame.Line > 0 || !innermost(c) })
}

// on returns the ranks of the hosts of a list.
func (s *Session) on(host string) (in rank.Set, err error) {
	var all []string
	for _, e := range s.file.Hosts {
		var h protocol.HostInfo
		if json.Unmarshal(e.Group.Body, &h) != nil {
			continue
		}
		all = append(all, h.Hosts...)
		for _, name := range h.Hosts {
			if protocol.HostMatches(host, name) {
				in = in.Union(e.Group.Ranks)
			}
		}
	}
	if in.IsEmpty() {
		const most = 4
		return in, errors.New("the file has no such host; it has " + strings.Join(all[:min(len(all), most)], ", "))
	}
	return in, nil
}
