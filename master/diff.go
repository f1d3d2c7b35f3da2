package master

import (
	"encoding/json"
	"slices"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// smallJob is up to how many ranks stat keeps every value, so that all that it
// says is exact. Beyond that values are dropped as soon as two differ: the sets
// of ranks that have them could be longer than all else.
const smallJob = 64

// statLimit is how many values a column of stat keeps.
func statLimit(asked int) int {
	if asked <= smallJob {
		return smallJob
	}
	return 1
}

// difference is the result of diff.
type difference struct {
	Expr string `json:"expr"`
	Side side   `json:"side"`
	// Tolerance is within what the values of the majority are the same; 0: they are equal.
	Tolerance float64 `json:"tolerance,omitempty"`
}

// side is where ranks stand in a diff.
type side string

const (
	majority   side = "majority" // have the value that more than half of all have
	others     side = "others"   // have not
	noMajority side = "none"     // nobody has
)

// compare takes in the answers to a diff and gives them to the front ends parted
// into the majority and the others. When there were too many values to keep, the
// servers, which have kept their answers, are asked who has the majority's: they
// know its hash. The ranks are not asked again.
func (m *Master) compare(id protocol.RequestID, args protocol.Args, wait, began time.Duration) {
	m.hold(id, func(answers []session.Event, done session.Done) {
		values := column.Column{Name: "value"}
		var results rank.Set
		var rest []session.Event
		for _, e := range answers {
			i := slices.IndexFunc(e.Group.Columns, func(c column.Column) bool { return c.Name == "value" })
			if e.Group.Kind != protocol.KindResult || i < 0 {
				rest = append(rest, e)
				continue
			}
			results = results.Union(e.Group.Ranks)
			values = values.Merge(e.Group.Columns[i])
		}
		finish := func(groups []protocol.Group) {
			for _, g := range groups {
				switch g.Kind { // after an answer to the first question
				case protocol.KindMissing:
					done.Missing, done.Answered = done.Missing.Union(g.Ranks), done.Answered-g.Ranks.Len()
				case protocol.KindLost:
					done.Lost, done.Answered = done.Lost.Union(g.Ranks), done.Answered-g.Ranks.Len()
				case protocol.KindFault:
					done.Faults += g.Ranks.Len()
				}
				m.stream.Push(session.Event{Name: g.Kind.String(), ID: id, Command: "diff", Group: g})
			}
			m.stream.Push(rest...)
			done.Took = m.now() - began
			m.stream.Push(session.Event{Name: session.DoneName, ID: id, Command: "diff", Done: &done})
		}
		if mayBeArray(answers) && results.Len() > 1 {
			m.compareArrays(id, args, results, func() time.Duration { return left(wait, m.now()-began) }, func(groups []protocol.Group) {
				if groups != nil {
					finish(groups)
					return
				}
				m.compareValues(id, args, results, values, left(wait, m.now()-began), finish)
			})
			return
		}
		m.compareValues(id, args, results, values, left(wait, m.now()-began), finish)
	})
}

// compareValues parts ranks by the text of what they have printed.
func (m *Master) compareValues(id protocol.RequestID, args protocol.Args, results rank.Set, values column.Column, wait time.Duration, finish func([]protocol.Group)) {
	hash, some := values.Majority()
	switch {
	case results.IsEmpty():
		finish(nil)
	case args.Tolerance > 0 && values.Complete():
		finish(partedByTolerance(args, values))
	case !some:
		finish(parted(difference{Expr: args.Expr}, rank.Set{}, results, column.Column{}, values))
	case values.Complete():
		finish(partedByValue(args.Expr, values))
	default:
		m.ask("expand", results, wait, protocol.Args{Of: id, Hash: hash, Limit: args.Limit},
			func(answers []session.Event, _ session.Done) {
				finish(partedByServers(args.Expr, results, values, answers))
			})
	}
}

// parted makes the answers of a diff; a set that is empty makes none.
func parted(body difference, same, differ rank.Set, ofSame, ofOthers column.Column) []protocol.Group {
	var groups []protocol.Group
	add := func(ranks rank.Set, at side, c column.Column) {
		if !ranks.IsEmpty() {
			groups = append(groups, protocol.Group{
				Kind: protocol.KindResult, Ranks: ranks, Columns: []column.Column{c},
				Body: canonical.JSON(difference{body.Expr, at, body.Tolerance}),
			})
		}
	}
	if same.IsEmpty() {
		add(differ, noMajority, ofOthers)
		return groups
	}
	add(same, majority, ofSame)
	add(differ, others, ofOthers)
	return groups
}

// partedByValue compares values that are all there.
func partedByValue(expr string, values column.Column) []protocol.Group {
	counts := map[string]int{}
	for _, v := range values.Values() {
		counts[column.Placeless(v.Value)] += v.Ranks.Len()
	}
	var same, differ rank.Set
	ofSame, ofOthers := column.Column{Name: "value"}, column.Column{Name: "value"}
	for _, v := range values.Values() {
		c := column.Of("value", v.Ranks, v.Value, values.Limit())
		if 2*counts[column.Placeless(v.Value)] > values.Count() {
			same, ofSame = same.Union(v.Ranks), ofSame.Merge(c)
			continue
		}
		differ, ofOthers = differ.Union(v.Ranks), ofOthers.Merge(c)
	}
	return parted(difference{Expr: expr}, same, differ, ofSame, ofOthers)
}

// partedByServers reads what the servers say of ranks with the majority's hash.
// When these are no majority after all, there is none: the hash was then that of
// nobody's value, or several values have it. Ranks whose server cannot say, for
// it has more to keep, stand among the others.
func partedByServers(expr string, results rank.Set, values column.Column, answers []session.Event) []protocol.Group {
	var same rank.Set
	ofSame, ofOthers := column.Column{Name: "value"}, column.Column{Name: "value"}
	for _, e := range answers {
		var body struct {
			Same bool `json:"same"`
		}
		if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &body) != nil {
			continue
		}
		for _, c := range e.Group.Columns {
			switch {
			case c.Name != "value":
			case body.Same:
				same, ofSame = same.Union(e.Group.Ranks), ofSame.Merge(c)
			default:
				ofOthers = ofOthers.Merge(c)
			}
		}
	}
	if same.IsEmpty() || !ofSame.Alike() || 2*same.Len() <= results.Len() {
		return parted(difference{Expr: expr}, rank.Set{}, results, column.Column{}, values)
	}
	return parted(difference{Expr: expr}, same, results.Minus(same), ofSame, ofOthers)
}
