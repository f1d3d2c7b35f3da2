// The command diff for arrays.

package master

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// longText is the length in bytes from which a value that may be an array is compared by its
// elements.
const longText = 60

// mayBeArray reports whether the ranks printed what may be an array that is better compared by its
// elements: a page of one, or long texts with brackets or quotes that differ between ranks.
func mayBeArray(answers []session.Event) bool {
	differ, brackets := false, false
	var first string
	for _, e := range answers {
		var body struct {
			Elements int `json:"elements"`
		}
		if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &body) != nil {
			continue
		}
		if body.Elements > 0 {
			return true
		}
		c, ok := e.Group.Column("value")
		if ok && !c.Complete() { // there were too many different values to keep
			differ, brackets = true, brackets || c.Stats().Numbers == 0
		}
		for _, v := range c.Values() {
			differ = differ || first != "" && first != v.Value
			first = v.Value
			brackets = brackets || len(v.Value) >= longText && strings.ContainsAny(v.Value, "{(\"")
		}
	}
	return differ && brackets
}

// arrayDiff is the result of diff for an array: the ranges of elements that differ. The values of
// the first element of range K are in column "value.K".
type arrayDiff struct {
	Expr     string         `json:"expr"`
	Elements int            `json:"elements"`
	Shape    protocol.Shape `json:"shape"`
	Ranges   []differing    `json:"ranges"`
	More     int            `json:"more,omitempty"` // number of further ranges
	// Tolerance is the tolerance within which elements agree; 0: they are equal.
	Tolerance float64 `json:"tolerance,omitempty"`
	// Examined is how many elements were compared with the tolerance, if not all that differ.
	Examined int `json:"examined,omitempty"`
}

// otherShape is the result of diff for ranks whose array has another shape than most ranks' arrays,
// so that it cannot be compared by elements.
type otherShape struct {
	Expr     string         `json:"expr"`
	Side     side           `json:"side"`
	Elements int            `json:"elements"`
	Shape    protocol.Shape `json:"shape"`
}

// hashes is the answer of the ranks with one shape to a hash.
type hashes struct {
	ranks rank.Set
	body  struct {
		Expr  string          `json:"expr"`
		Size  int             `json:"size"`
		Shape protocol.Shape  `json:"shape"`
		Spans []protocol.Span `json:"spans"`
	}
	columns map[string]column.Column
}

// readHashes returns the answers by shape, sorted by descending number of ranks, then by lowest
// rank.
func readHashes(answers []session.Event) []hashes {
	var all []hashes
	for _, e := range answers {
		h := hashes{ranks: e.Group.Ranks, columns: map[string]column.Column{}}
		if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &h.body) != nil ||
			h.body.Shape.Elements() == 0 {
			continue
		}
		for _, c := range e.Group.Columns {
			h.columns[c.Name] = c
		}
		at := len(all)
		for at > 0 && all[at-1].before(h) {
			at--
		}
		all = append(all[:at], append([]hashes{h}, all[at:]...)...)
	}
	return all
}

// values returns the columns with values of elements, in order of name.
func (g hashes) values() []column.Column {
	var list []column.Column
	for _, name := range slices.Sorted(maps.Keys(g.columns)) {
		if strings.HasPrefix(name, "value.") {
			list = append(list, g.columns[name])
		}
	}
	return list
}

// before reports whether h must be before g in the list.
func (g hashes) before(h hashes) bool {
	a, _ := g.ranks.Min()
	b, _ := h.ranks.Min()
	return h.ranks.Len() > g.ranks.Len() || h.ranks.Len() == g.ranks.Len() && b < a
}

// compareArrays finds the elements of an array that differ between ranks. These send hashes of
// blocks, then hashes of smaller blocks within those that differ, down to single elements; the
// elements themselves are not sent. It calls then with nil if the expression is not an array. Ranks
// that do not answer a round are in the result once, as missing or lost.
func (m *Master) compareArrays(o *operation, args protocol.Args, ranks rank.Set, wait func() time.Duration,
	then func([]protocol.Group)) {
	var without []protocol.Group
	var gone rank.Set // ranks of without
	hash := func(spans []protocol.Span, of rank.Set, then func([]hashes)) {
		a := protocol.Args{Expr: args.Expr, Thread: args.Thread, Frame: args.Frame, Limit: args.Limit, Spans: spans}
		m.ask(o, "hash", of, wait(), a, func(answers []session.Event, _ session.Done) {
			for _, g := range withoutHash(answers) {
				if g, some := g.Narrow(g.Ranks.Minus(gone)); some {
					without, gone = append(without, g), gone.Union(g.Ranks)
				}
			}
			then(readHashes(answers))
		})
	}
	hash(nil, ranks, func(all []hashes) {
		if len(all) == 0 {
			then(nil)
			return
		}
		h := all[0]
		groups := otherShapes(all[1:])
		withRest := func(g protocol.Group) {
			if g, some := g.Narrow(h.ranks.Minus(gone)); some {
				groups = append([]protocol.Group{g}, groups...)
			}
			then(append(groups, without...))
		}
		if args.Tolerance > 0 {
			t := newTolerant(h, args.Tolerance)
			var more func()
			more = func() {
				spans := t.next()
				if len(spans) == 0 {
					withRest(t.group(h))
					return
				}
				hash(spans, h.ranks, func(all []hashes) {
					if len(all) == 0 {
						all = []hashes{{}}
					}
					t.take(all[0])
					more()
				})
			}
			more()
			return
		}
		s := newSearch(h.body.Shape.Elements())
		var round func(hashes)
		round = func(answered hashes) {
			if spans := s.take(answered); len(spans) > 0 {
				hash(spans, h.ranks, func(all []hashes) {
					if len(all) == 0 {
						all = []hashes{{}} // no rank has answered: use what is known
					}
					round(all[0])
				})
				return
			}
			m.finishArrays(h, s, hash, withRest)
		}
		round(h)
	})
}

// finishArrays asks for the values of the first elements that differ, and makes the answer.
func (m *Master) finishArrays(h hashes, s *search, hash func([]protocol.Span, rank.Set, func([]hashes)),
	then func(protocol.Group)) {
	ranges, more := s.ranges()
	body := arrayDiff{Expr: h.body.Expr, Elements: h.body.Shape.Elements(), Shape: h.body.Shape, Ranges: ranges,
		More: more}
	g := protocol.Group{Kind: protocol.KindResult, Ranks: h.ranks, Body: canonical.JSON(body)}
	var spans []protocol.Span
	for _, r := range ranges {
		spans = append(spans, protocol.Span{First: r.First, Last: r.First})
	}
	if len(spans) == 0 {
		then(g)
		return
	}
	hash(spans, h.ranks, func(all []hashes) {
		if len(all) > 0 {
			g.Columns = all[0].values()
		}
		then(g)
	})
}

// otherShapes makes the answers of ranks whose array has another shape.
func otherShapes(rest []hashes) []protocol.Group {
	var groups []protocol.Group
	for _, h := range rest {
		groups = append(groups, protocol.Group{
			Kind: protocol.KindResult, Ranks: h.ranks,
			Body: canonical.JSON(otherShape{h.body.Expr, others, h.body.Shape.Elements(), h.body.Shape}),
		})
	}
	return groups
}

// withoutHash returns the groups without hashes: faults, as answers to diff, and missing or lost
// ranks.
func withoutHash(answers []session.Event) []protocol.Group {
	var groups []protocol.Group
	for _, e := range answers {
		var f protocol.Fault
		switch g := e.Group; {
		case g.Kind == protocol.KindMissing || g.Kind == protocol.KindLost:
			groups = append(groups, g)
		case g.Kind == protocol.KindFault && json.Unmarshal(g.Body, &f) == nil:
			f.Op = "diff"
			groups = append(groups, protocol.Group{Kind: protocol.KindFault, Ranks: g.Ranks, Body: canonical.JSON(&f)})
		}
	}
	return groups
}
