// Where break would set a breakpoint.

package breakpoint

import (
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"strings"
)

// spot is a place in the program: a line, or an address if there is no line.
type spot struct{ full, line, addr string }

func spotOf(t mi.Tuple) spot {
	s := spot{t.Str("fullname"), t.Str("line"), t.Str("addr")}
	if strings.HasPrefix(s.addr, "<") { // several, or pending
		s.addr = ""
	}
	return s
}

func (s spot) is(o spot) bool {
	return s.addr == o.addr && s.addr != "" || s.full != "" && s.full == o.full && s.line == o.line
}

// Places calls then with the addresses at which break would set a breakpoint, or answers with gdb's error.
func (bc *Commands) Places(q *request.Request, location string, then func(addresses []string)) {
	bc.probe(q, location, func(own mi.Tuple, a request.Answer) {
		if a.Failed() {
			bc.Refused(q, a)
			return
		}
		then(placesOf(own))
	})
}

// probe is Places, but also calls then if gdb refuses the location. It finds out by setting a disabled
// breakpoint, which it deletes at once.
func (bc *Commands) probe(q *request.Request, location string, then func(own mi.Tuple, a request.Answer)) {
	bc.Ask(q, func(a request.Answer) {
		set := a.Results.Path("bkpt").Fields
		if !a.Failed() {
			bc.Tell(q.Name, "-break-delete", set.Str("number"))
		}
		own, _ := bc.mine(set)
		then(own, a)
	}, "-break-insert", append(bc.Here(), "-d", location)...)
}

// spotsOf returns the places of a breakpoint as returned by mine.
func spotsOf(bkpt mi.Tuple) []spot {
	spots := []spot{spotOf(bkpt)}
	for _, l := range bkpt.Path("locations").Fields {
		spots = append(spots, spotOf(l.Value.Fields))
	}
	return spots
}
