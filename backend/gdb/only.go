// Breakpoints of one rank among those of the ranks that share its gdb.

package gdb

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
)

// gdb 13 sets a breakpoint in the programs of all its inferiors; what it keeps of
// one (hits, ignore count, commands, whether it is temporary) is shared.
// So each rank has breakpoints of its own, with a condition that holds for it
// only.

// only gives the condition of a breakpoint of this rank, "" for none. One that gdb can only refuse is given as it is: gdb
// says why.
func (m *machine) only(condition string) string {
	switch {
	case !m.gdb.shared() || isUnclosed(condition):
		return condition
	case condition == "":
		return m.onlyHere()
	}
	return m.onlyHere() + " ? (" + condition + elsewhere
}

// elsewhere is what stands behind the condition of a person. gdb looks at the types of both sides of &&, whatever the first one
// is: what is wrong with the second one would stop the neighbours, too.
const elsewhere = ") : 0"

// noChoice is what gdb says of that in a language without ?:, which is that of the code where the breakpoint is.
const noChoice = "A syntax error in expression, near `? ("

// conjunctions are the words of such languages for what must hold, too. In Fortran gdb reads && as & &, an address.
var conjunctions = []string{".and.", "&&", "and then", "and", "AND"}

// withoutChoice deals with a condition that gdb has refused because its language has no ?:. The rank gets a gdb of its own. One that does not
// stand, or is given what it was given before, gets the condition with the next conjunction; the neighbours
// stop where they cannot evaluate it. false: gdb has refused it, or not, for another reason.
func (m *machine) withoutChoice(q *request, a answer, condition, only string, again func(only string)) bool {
	if condition == "" || isUnclosed(condition) || !m.gdb.shared() || !a.failed() || !strings.Contains(a.Results.Str("msg"), "A syntax error in expression, near `") {
		return false
	}
	next := 0
	for i, word := range conjunctions {
		if only == m.joined(word, condition) {
			next = i + 1
		}
	}
	switch {
	case next == 0 && !strings.Contains(a.Results.Str("msg"), noChoice) || next == len(conjunctions):
		return false
	case next == 0 && !q.again && !m.inCall && m.stateNow() == backend.Stopped:
		m.aloneFor(q, "a condition in Fortran")
	default:
		again(m.joined(conjunctions[next], condition))
	}
	return true
}

func (m *machine) joined(and, condition string) string {
	return m.onlyHere() + " " + and + " (" + condition + ")"
}

// isUnclosed tells whether a condition closes a parenthesis which it has not opened, as "n > 1) || (1". Within the parentheses
// of only it would have a meaning, and hold for the neighbours.
func isUnclosed(condition string) bool {
	depth := 0
	for _, b := range protocol.Unquoted(condition) {
		switch b {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
}

func (m *machine) onlyHere() string { return fmt.Sprintf("$_inferior == %d", m.inferior) }

// withoutOnly takes only off again.
func (m *machine) withoutOnly(text string) string {
	text = strings.ReplaceAll(text, m.variableSuffix(), "")
	rest, ok := strings.CutPrefix(text, m.onlyHere())
	if !ok || !m.gdb.shared() {
		return text
	}
	rest = afterOnly.ReplaceAllString(rest, "")
	if before, ok := strings.CutSuffix(rest, elsewhere); ok {
		return before
	}
	return strings.TrimSuffix(rest, ")")
}

// afterOnly is what stands between $_inferior == N and the condition of a person.
var afterOnly = regexp.MustCompile(`^ (?:\?|&&|\.and\.|and then|and|AND) \(`)

// words are gdb's own for a refusal, as a gdb would have them that has this rank
// alone: the parenthesis that only puts behind a condition is left out where gdb
// shows the rest of one that it cannot read.
func (m *machine) words(a answer) string {
	text := strings.Replace(a.Results.Str("msg"), elsewhere, ")", 1)
	text = strings.Replace(text, "`if "+m.onlyHere()+" ? (", "`if ", 1)
	if rest, ok := strings.CutSuffix(text, "`: 0'."); ok { // of one that opens more than it closes
		text = rest + "`'."
	}
	if rest, ok := strings.CutSuffix(text, ")'."); ok && m.gdb.shared() && strings.HasPrefix(text, "A syntax error in expression, near `") {
		return rest + "'."
	}
	return text
}

// mine gives a tuple bkpt as a gdb would that has this rank alone: with its own
// locations, or false where there is none among several of others.
func (m *machine) mine(bkpt mi.Tuple) (mi.Tuple, bool) {
	if !m.gdb.shared() && !m.child { // the program of the parent stays in gdb
		return bkpt, true
	}
	var places mi.Tuple
	for _, l := range bkpt.Path("locations").Fields {
		if m.among(l.Value.Fields) {
			places = append(places, l)
		}
	}
	own := make(mi.Tuple, 0, len(bkpt)+4)
	for _, f := range bkpt {
		switch {
		case f.Name == "locations":
			continue
		case f.Name == "cond":
			f.Value.Str = m.withoutOnly(f.Value.Str)
			if f.Value.Str == "" {
				continue
			}
		case f.Name == "addr" && len(places) == 1:
			f.Value.Str = places[0].Value.Fields.Str("addr")
		case f.Name == "enabled" && len(places) == 1 && f.Value.Str == "y":
			f.Value.Str = places[0].Value.Fields.Str("enabled")
		}
		own = append(own, f)
	}
	switch {
	case len(places) > 1:
		return append(own, mi.Field{Name: "locations", Value: mi.Value{Kind: mi.ListValue, Fields: places}}), true
	case len(places) == 1:
		for _, f := range places[0].Value.Fields {
			if !slices.Contains([]string{"number", "enabled", "addr"}, f.Name) {
				own = append(own, f)
			}
		}
		return own, true
	}
	_, several := bkpt.Get("locations")
	return own, !several && m.among(bkpt)
}

// among tells whether a location is one in this rank. One that is nobody's
// is that of a pending breakpoint, or of a watchpoint.
func (m *machine) among(location mi.Tuple) bool {
	groups, ok := location.Get("thread-groups")
	if !ok {
		return true
	}
	return slices.ContainsFunc(groups.Fields, func(f mi.Field) bool { return f.Value.Str == m.group })
}
