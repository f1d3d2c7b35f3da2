// Rank sets whose members are found when a call is made.

package master

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
)

// evaluation is the evaluation of a set for which ranks must be asked.
type evaluation struct {
	id     protocol.RequestID // of the call that contains the set
	op     string
	text   string
	sets   *sets
	set    rank.Expr
	found  map[string]rank.Set // those that were open in set
	began  time.Duration
	wait   time.Duration // of the call; 0: no limit
	owed   int           // outstanding queries
	failed map[string]rank.Set
	then   func(ranks rank.Set)
}

// evaluate sends the queries for the open sets of a call to the stopped ranks, all at once, and then
// evaluates the whole. If the result is empty, the call ends with a fault.
func (m *Master) evaluate(f *evaluation) {
	open := f.set.Open()
	f.found, f.failed = map[string]rank.Set{}, map[string]rank.Set{}
	f.owed = len(open)
	o := m.callOperation(f.id, f.op, rank.Set{}, f.began)
	stopped, watched := m.states.In(session.Stopped), m.states.In(session.Watched)
	if busy := m.states.In(session.Running, session.Starting); !busy.IsEmpty() {
		f.failed["running, and so not asked for "+protocol.Clip(strings.Join(withAt(open), ", "))] = busy
	}
	for _, name := range open {
		command, args := query(name)
		asked := stopped
		switch {
		case command == "stacks":
			asked = stopped.Union(watched)
		case !watched.IsEmpty():
			f.failed["watched, and so not asked for @"+protocol.Clip(name)] = watched
		}
		m.ask(o, command, asked, f.wait/2, args, func(answers []session.Event, _ session.Done) {
			f.found[name] = f.members(name, answers)
			if f.owed--; f.owed == 0 {
				m.evaluated(f)
			}
		})
	}
}

func withAt(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "@" + n
	}
	return out
}

// query returns the command that finds the members of a set.
func query(name string) (command string, args protocol.Args) {
	switch kind, arg := splitLive(name); kind {
	case "fn":
		return "stacks", protocol.Args{By: "function", AllThreads: true}
	case "at":
		return "backtrace", protocol.Args{Limit: 1}
	default:
		return "print", protocol.Args{Expr: arg, Limit: -1}
	}
}

// members returns the ranks whose answers say that they are in the set, and records those that
// could not answer.
func (f *evaluation) members(name string, answers []session.Event) rank.Set {
	kind, arg := splitLive(name)
	var in rank.Set
	for _, e := range answers {
		g := e.Group
		switch {
		case g.Kind == protocol.KindFault, g.Kind == protocol.KindMissing, g.Kind == protocol.KindLost:
			why := reason(g)
			f.failed[why] = f.failed[why].Union(g.Ranks)
		case g.Kind != protocol.KindResult:
		case kind == "fn":
			in = in.Union(g.Stack.Having(func(f stack.Frame) bool { return protocol.IsFunction(f.Func, arg) }))
		case kind == "at" && standsAt(g.Body, arg):
			in = in.Union(g.Ranks)
		case kind == "expr":
			in = in.Union(holds(g.Columns))
		}
	}
	return in
}

// reason returns in a few words why ranks have no result.
func reason(g protocol.Group) string {
	var text struct {
		Message string `json:"message"`
		Cause   string `json:"cause"`
	}
	if json.Unmarshal(g.Body, &text) != nil || text.Message+text.Cause == "" {
		return "gave no answer"
	}
	return text.Message + text.Cause
}

// standsAt reports whether the innermost frame with source is at a place.
func standsAt(body []byte, at string) bool {
	var trace struct {
		Frames []protocol.Frame `json:"frames"`
	}
	p, err := parseLine(at)
	if err != nil || json.Unmarshal(body, &trace) != nil {
		return false
	}
	for _, f := range trace.Frames {
		if f.File != "" && f.Line > 0 {
			return p.matches(f)
		}
	}
	return false
}

// holds returns the ranks for which an expression is true: neither 0 nor false nor a null pointer,
// as gdb prints them for C, C++ and Fortran.
func holds(columns []column.Column) rank.Set {
	var in rank.Set
	for _, c := range columns {
		if c.Name != "value" {
			continue
		}
		for _, v := range c.Values() {
			if isTrue(v.Value) {
				in = in.Union(v.Ranks)
			}
		}
	}
	return in
}

func isTrue(value string) bool {
	value, _, _ = strings.Cut(value, " '") // 0 '\000'
	if strings.HasPrefix(value, "(") {     // (int *) 0x0
		_, value, _ = strings.Cut(value, ") ")
	}
	switch strings.ToLower(value) {
	case "", "false", ".false.", "0x0", "void":
		return false
	}
	f, err := strconv.ParseFloat(value, 64)
	return err != nil || f != 0
}

// undecided returns the ranks whose membership in the whole set depends on those that could not be
// asked. Ranks that the rest of the text excludes need not be reported.
func (f *evaluation) undecided(ranks rank.Set) rank.Set {
	var silent rank.Set
	for _, s := range f.failed {
		silent = silent.Union(s)
	}
	other := map[string]rank.Set{}
	for name, found := range f.found {
		other[name] = found.Union(silent)
	}
	return f.set.Eval(other).Xor(ranks)
}

// evaluated continues a call whose set is known. Ranks that could not be asked are not members, and a
// note names them.
func (m *Master) evaluated(f *evaluation) {
	if m.phase != up {
		m.refuse(f.id, f.op, rank.Set{}, f.began, usage(f.op, "", "the session has ended"))
		return
	}
	ranks := f.set.Eval(f.found).Intersect(f.sets.all)
	open := f.undecided(ranks)
	for _, why := range slices.Sorted(maps.Keys(f.failed)) {
		if out := f.failed[why].Intersect(open); !out.IsEmpty() {
			m.explain(f.id, f.op, out, "left out: "+why)
		}
	}
	if ranks.IsEmpty() {
		m.refuse(f.id, f.op, rank.Set{}, f.began, f.sets.noRanks(f.op, f.text))
		return
	}
	f.then(ranks)
}
