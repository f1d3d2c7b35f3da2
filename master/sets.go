// Rank sets as text, evaluated against the tables.

package master

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// sets evaluates rank sets against the state at the time of the call. Some sets are known only when
// ranks have been asked.
type sets struct {
	all         rank.Set
	states      *session.States
	namedSets   map[string]rank.Set // named by the user
	routes      routes
	breakpoints int // numbers given so far

	named bool // the text has named sets
}

// read parses the text of a call; "" is all. The set may be empty if the text has named sets.
func (s *sets) read(op, text string) (rank.Expr, *protocol.Fault) {
	set, err := rank.ParseExpr(cmp.Or(text, "all"), rank.Env{All: s.all, Group: s.group, Live: s.live})
	if err != nil {
		return rank.Expr{}, usage(op, "", "%s", err)
	}
	if !s.named && set.Eval(nil).IsEmpty() {
		return rank.Expr{}, usage(op, s.summary(), "there are no ranks in %s", protocol.Clip(text))
	}
	return set, nil
}

// noRanks returns the fault of a call whose set has no ranks now. Its kind is FaultState and not
// FaultUsage, because the set may have ranks later.
func (s *sets) noRanks(op, text string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultState, Op: op, Message: "there are no ranks in " + protocol.Clip(text) + " now", Hint: s.summary()}
}

// group returns a set that the user has named, or one of a state.
func (s *sets) group(name string) (rank.Set, bool) {
	set, ok := s.namedSets[name]
	if !ok {
		set, ok = s.states.Lookup(name)
	}
	s.named = s.named || ok
	return set, ok
}

// summary counts the ranks by state: "5 stopped, 3 running".
func (s *sets) summary() string {
	counts := map[session.State]int{}
	var order []session.State
	for _, g := range s.states.Groups(s.all) {
		if counts[g.Status.State] == 0 {
			order = append(order, g.Status.State)
		}
		counts[g.Status.State] += g.Ranks.Len()
	}
	var parts []string
	for _, state := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return strings.Join(parts, ", ")
}

// live returns a set whose members depend on the time of the call, from the tables. The error is
// rank.ErrOpen if ranks must be asked.
func (s *sets) live(name string) (rank.Set, error) {
	kind, arg := splitLive(name)
	s.named = true
	switch kind {
	case "bp":
		return s.atBreakpoint(arg)
	case "host":
		return s.routes.ranksOn(arg)
	case "fn", "at", "expr":
		if arg == "" {
			return rank.Set{}, errors.New("something must follow, as in @fn:main, @at:work.c:42 or @expr{x > 3}")
		}
		if kind == "at" {
			if _, err := parseLine(arg); err != nil {
				return rank.Set{}, err
			}
		}
		return rank.Set{}, rank.ErrOpen
	}
	return rank.Set{}, errors.New("there is no such set")
}

// splitLive splits "bp:3" and "expr{x > 3}".
func splitLive(name string) (kind, arg string) {
	if kind, rest, ok := strings.Cut(name, "{"); ok && kind == "expr" {
		return kind, strings.TrimSpace(strings.TrimSuffix(rest, "}"))
	}
	kind, arg, _ = strings.Cut(name, ":")
	return kind, arg
}

func (s *sets) atBreakpoint(arg string) (rank.Set, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > s.breakpoints {
		return rank.Set{}, fmt.Errorf("there is no breakpoint number %s; info breakpoints lists them", protocol.Clip(arg))
	}
	return s.states.AtBreakpoint(n), nil
}

// sourceLine is a line of a file.
type sourceLine struct {
	file string
	line int
}

func parseLine(text string) (sourceLine, error) {
	i := strings.LastIndexByte(text, ':')
	if i > 0 {
		if n, err := strconv.Atoi(text[i+1:]); err == nil && n > 0 {
			return sourceLine{text[:i], n}, nil
		}
	}
	return sourceLine{}, fmt.Errorf("%q is not FILE:LINE", protocol.Clip(text))
}

// matches reports whether a frame is at the line. The file may be given without leading directories.
func (p sourceLine) matches(f protocol.Frame) bool {
	return f.Line == p.line && (endsIn(f.File, p.file) || endsIn(f.Full, p.file))
}

func endsIn(path, end string) bool {
	return path == end || strings.HasSuffix(path, "/"+strings.TrimPrefix(end, "/"))
}
