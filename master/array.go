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

// longText is from how many bytes on a value that may be an array is worth a
// look at its elements.
const longText = 60

// mayBeArray tells whether the ranks printed what could be an array that is
// easier to compare by its elements: a part of one, or a long text between
// brackets that is not the same on all.
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
		for _, c := range e.Group.Columns {
			if c.Name != "value" {
				continue
			}
			if !c.Complete() { // too many differ to be kept
				differ, brackets = true, brackets || c.Stats().Numbers == 0
			}
			for _, v := range c.Values() {
				differ = differ || first != "" && first != v.Value
				first = v.Value
				brackets = brackets || len(v.Value) >= longText && strings.ContainsAny(v.Value, "{(\"")
			}
		}
	}
	return differ && brackets
}

// arrayDiff is the result of diff for an array: the elements that differ, and
// where. What ranks have in the first element of range K is in column "value.K".
type arrayDiff struct {
	Expr     string         `json:"expr"`
	Elements int            `json:"elements"`
	Shape    protocol.Shape `json:"shape"`
	Ranges   []differing    `json:"ranges"`
	More     int            `json:"more,omitempty"` // ranges behind these
	// Tolerance is within what elements are the same; 0: they are equal.
	Tolerance float64 `json:"tolerance,omitempty"`
	// Examined is how many elements were compared with the tolerance, where there are more that differ at all.
	Examined int `json:"examined,omitempty"`
}

// otherShape is the result of diff for ranks whose array has another shape than
// that of most ranks: it cannot be compared by elements.
type otherShape struct {
	Expr     string         `json:"expr"`
	Side     side           `json:"side"`
	Elements int            `json:"elements"`
	Shape    protocol.Shape `json:"shape"`
}

// hashes is what the ranks with one shape have answered to a hash.
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

// readHashes gives the answers by shape, the most ranks first; of as many, those
// with the lowest.
func readHashes(answers []session.Event) []hashes {
	var all []hashes
	for _, e := range answers {
		h := hashes{ranks: e.Group.Ranks, columns: map[string]column.Column{}}
		if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &h.body) != nil || h.body.Shape.Elements() == 0 {
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

// values gives the columns that are values of elements, in order of name.
func (g hashes) values() []column.Column {
	var list []column.Column
	for _, name := range slices.Sorted(maps.Keys(g.columns)) {
		if strings.HasPrefix(name, "value.") {
			list = append(list, g.columns[name])
		}
	}
	return list
}

// before tells whether h stands before g in the list, and not the other way
// round.
func (g hashes) before(h hashes) bool {
	a, _ := g.ranks.Min()
	b, _ := h.ranks.Min()
	return h.ranks.Len() > g.ranks.Len() || h.ranks.Len() == g.ranks.Len() && b < a
}

// compareArrays finds the elements of an array that differ between ranks. These
// tell hashes of blocks, and of blocks that differ those of smaller ones, until
// single elements are left: the elements stay where they are. then gets nil when
// the expression is not an array after all. Ranks that fall silent on the way are answered
// for by what the tree says of them, once.
func (m *Master) compareArrays(id protocol.RequestID, args protocol.Args, ranks rank.Set, wait func() time.Duration, then func([]protocol.Group)) {
	var without []protocol.Group
	var gone rank.Set // of them
	hash := func(spans []protocol.Span, of rank.Set, then func([]hashes)) {
		a := protocol.Args{Expr: args.Expr, Thread: args.Thread, Frame: args.Frame, Limit: args.Limit, Spans: spans}
		m.ask("hash", of, wait(), a, func(answers []session.Event, _ session.Done) {
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
		groups := othersThan(all[1:])
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
						all = []hashes{{}} // nobody stands there any more: what is known must do
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

// finishArrays asks for the first elements that differ, and puts the answer
// together.
func (m *Master) finishArrays(h hashes, s *search, hash func([]protocol.Span, rank.Set, func([]hashes)), then func(protocol.Group)) {
	ranges, more := s.ranges()
	body := arrayDiff{Expr: h.body.Expr, Elements: h.body.Shape.Elements(), Shape: h.body.Shape, Ranges: ranges, More: more}
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

// othersThan makes the answers of ranks whose array has another shape.
func othersThan(rest []hashes) []protocol.Group {
	var groups []protocol.Group
	for _, h := range rest {
		groups = append(groups, protocol.Group{
			Kind: protocol.KindResult, Ranks: h.ranks,
			Body: canonical.JSON(otherShape{h.body.Expr, others, h.body.Shape.Elements(), h.body.Shape}),
		})
	}
	return groups
}

// withoutHash gives what came in place of hashes: what ranks have refused, as answers to a
// diff, and who has not answered.
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
