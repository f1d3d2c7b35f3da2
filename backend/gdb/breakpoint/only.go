// Breakpoints of one rank in a shared gdb.

package breakpoint

import (
	"fmt"
	"slices"
	"strings"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// gdb 13 sets a breakpoint in the programs of all its inferiors, and they share its
// state (hits, ignore count, commands, whether it is temporary). So each rank has
// breakpoints of its own, with a condition that is true for this rank only.

// only returns the condition of a breakpoint of this rank, "" for none. A condition
// that gdb must refuse is returned unchanged, to get gdb's error.
func (bc *Commands) only(condition string) string {
	switch {
	case !bc.Shared() || isUnclosed(condition):
		return condition
	case condition == "":
		return bc.onlyHere()
	}
	return bc.onlyHere() + " ? (" + condition + elsewhere
}

// elsewhere follows the user's condition. && would not do: gdb checks the types of both
// sides, whatever the value of the first, so an error in the user's condition would
// stop the other ranks, too.
const elsewhere = ") : 0"

// noChoice is gdb's error for ?: in a language without it. The language of the condition is the
// language of the code at the breakpoint.
const noChoice = "A syntax error in expression, near `? ("

// conjunctions are the logical "and" of such languages. In Fortran gdb takes && as & &,
// an address.
var conjunctions = []string{".and.", "&&", "and then", "and", "AND"}

// withoutChoice handles a condition that gdb has refused because the language has no
// ?:. The rank gets a gdb of its own. If it is not stopped, or replays its journal, the
// Condition is tried with the next conjunction; then the other ranks stop if they
// cannot evaluate it. It returns false if gdb has accepted the condition, or refused it
// for another reason.
func (bc *Commands) withoutChoice(
	q *request.Request, a request.Answer, condition, only string, again func(only string),
) bool {
	if condition == "" || isUnclosed(condition) || !bc.Shared() || !a.Failed() || !strings.Contains(a.Results.Str("msg"), "A syntax error in expression, near `") {
		return false
	}
	next := 0
	for i, word := range conjunctions {
		if only == bc.joined(word, condition) {
			next = i + 1
		}
	}
	switch {
	case next == 0 && !strings.Contains(a.Results.Str("msg"), noChoice) || next == len(conjunctions):
		return false
	case next == 0 && !q.Replayed && !bc.StandsInCall() && bc.StateNow() == backend.Stopped:
		bc.NeedsOwnGDB(q, "a condition in Fortran")
	default:
		again(bc.joined(conjunctions[next], condition))
	}
	return true
}

func (bc *Commands) joined(and, condition string) string {
	return bc.onlyHere() + " " + and + " (" + condition + ")"
}

// isUnclosed reports whether a condition closes a parenthesis that it has not opened,
// as "n > 1) || (1". Within the parentheses of only it would be valid, and true for
// other ranks.
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

func (bc *Commands) onlyHere() string { return fmt.Sprintf("$_inferior == %d", bc.Inferior()) }

// withoutOnly removes what only has added.
func (bc *Commands) withoutOnly(text string) string {
	text = strings.ReplaceAll(text, bc.VariableSuffix(), "")
	rest, ok := strings.CutPrefix(text, bc.onlyHere())
	if !ok || !bc.Shared() {
		return text
	}
	rest = afterOnly.ReplaceAllString(rest, "")
	if before, ok := strings.CutSuffix(rest, elsewhere); ok {
		return before
	}
	return strings.TrimSuffix(rest, ")")
}

// afterOnly matches what is between $_inferior == N and the user's condition.
var afterOnly = pattern.New(`^ (?:\?|&&|\.and\.|and then|and|AND) \(`)

// errorText returns gdb's error as if gdb had this rank alone: without what only has added,
// where gdb quotes the rest of a condition that it cannot parse.
func (bc *Commands) errorText(a request.Answer) string {
	text := strings.Replace(a.Results.Str("msg"), elsewhere, ")", 1)
	text = strings.Replace(text, "`if "+bc.onlyHere()+" ? (", "`if ", 1)
	// the condition opens more than it closes
	if rest, ok := strings.CutSuffix(text, "`: 0'."); ok {
		text = rest + "`'."
	}
	if rest, ok := strings.CutSuffix(text, ")'."); ok && bc.Shared() && strings.HasPrefix(text, "A syntax error in expression, near `") {
		return rest + "'."
	}
	return text
}

// mine returns a tuple bkpt as if gdb had this rank alone: with the locations of this
// rank. It returns false if all locations belong to other ranks.
func (bc *Commands) mine(bkpt mi.Tuple) (mi.Tuple, bool) {
	if !bc.Shared() && !bc.IsChild() { // gdb keeps the program of the parent
		return bkpt, true
	}
	var places mi.Tuple
	for _, l := range bkpt.Path("locations").Fields {
		if bc.among(l.Value.Fields) {
			places = append(places, l)
		}
	}
	own := make(mi.Tuple, 0, len(bkpt)+4)
	for _, f := range bkpt {
		switch {
		case f.Name == "locations":
			continue
		case f.Name == "cond":
			f.Value.Str = bc.withoutOnly(f.Value.Str)
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
	return own, !several && bc.among(bkpt)
}

// among reports whether a location is in this rank. A location without thread groups belongs to a
// pending breakpoint or a watchpoint.
func (bc *Commands) among(location mi.Tuple) bool {
	groups, ok := location.Get("thread-groups")
	if !ok {
		return true
	}
	return slices.ContainsFunc(groups.Fields, func(f mi.Field) bool { return f.Value.Str == bc.ThreadGroup() })
}
