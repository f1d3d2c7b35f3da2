// gdb's notices and warnings about breakpoints.

package breakpoint

import (
	"fmt"
	"slices"
	"strings"

	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
)

// note sends a note to the user.
func (bc *Commands) note(format string, args ...any) {
	bc.Event(protocol.KindNote, protocol.Note{Text: fmt.Sprintf(format, args...)})
}

// invalidIn reports where the new condition of a breakpoint is not valid, and answers.
func (bc *Commands) invalidIn(q *request.Request, number string, why map[string]string) {
	bc.Ask(q, func(a request.Answer) {
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			bc.tellInvalid(q.Args.Breakpoints[0], f.Value.Fields, why)
		}
		bc.Done(q)
	}, "-break-info", number)
}

// tellInvalid reports the locations of this rank at which gdb has disabled a breakpoint
// because its condition is not valid there. gdb disables the locations of other ranks as well, as
// intended.
func (bc *Commands) tellInvalid(number int, bkpt mi.Tuple, why map[string]string) {
	if why == nil {
		return
	}
	own, _ := bc.mine(bkpt)
	list := own.Path("locations").Fields
	for i, l := range bkpt.Path("locations").Fields {
		t := l.Value.Fields
		k := slices.IndexFunc(list, func(f mi.Field) bool { return f.Value.Fields.Str("number") == t.Str("number") })
		place := fmt.Sprintf("%d.%d", number, k+1)
		reason, told := why[t.Str("number")]
		if !told { // of a breakpoint that is just being made
			place = fmt.Sprint(k + 1)
			reason, told = why[fmt.Sprint(i+1)]
		}
		if told && k >= 0 && t.Str("enabled") == "N" {
			bc.note("warning: failed to validate condition at location %s, disabling: %s", place, reason)
		}
	}
}

// reportSamePlace reports that a new breakpoint is at the place of others, as gdb does, and
// calls then. gdb would name the address, which differs between ranks.
func (bc *Commands) reportSamePlace(q *request.Request, p *Point, then func()) {
	beside := bc.points.atSamePlace(p)
	if q.Replayed || !slices.ContainsFunc(beside, func(o *Point) bool { return o.Number > 0 }) {
		then()
		return
	}
	bc.Ask(q, func(a request.Answer) {
		var names []string
		for _, f := range a.Results.Path("BreakpointTable", "body").Fields {
			t := f.Value.Fields
			i := slices.IndexFunc(beside, func(o *Point) bool { return o.Number > 0 && o.GDB == t.Str("number") })
			if i < 0 {
				continue
			}
			name := fmt.Sprint(beside[i].Number)
			if t.Str("enabled") == "n" {
				name += " (disabled)"
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			bc.note("Note: %s also set at the same pc.", listOf("breakpoint", names))
		}
		then()
	}, "-break-list")
}

// listOf returns "breakpoint 1", "breakpoints 1 and 2", "breakpoints 1, 2 and 3".
func listOf(noun string, names []string) string {
	last := len(names) - 1
	if last == 0 {
		return noun + " " + names[0]
	}
	return noun + "s " + strings.Join(names[:last], ", ") + " and " + names[last]
}
