// The command diff.

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

// smallJob is the number of ranks up to which stat keeps every value, so that all its results are
// exact. For more ranks, values are dropped as soon as two differ: their rank sets could be longer
// than all else.
const smallJob = 64

// statLimit returns how many values a column of stat keeps.
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
	// Tolerance is the tolerance within which the values of the majority agree; 0: they are equal.
	Tolerance float64 `json:"tolerance,omitempty"`
}

// side is the part of the ranks in a diff.
type side string

const (
	majority   side = "majority" // ranks with the value that more than half of all have
	others     side = "others"   // the other ranks
	noMajority side = "none"     // all ranks, if no value has a majority
)

// compare collects the answers to a diff and sends them to the front ends, divided into the
// majority and the others. If there were too many values to keep, it asks the servers, which keep
// their answers and know the hash of the majority's value, which ranks have it. The ranks are not
// asked again.
func (m *Master) compare(id protocol.RequestID, args protocol.Args, ranks rank.Set, wait, began time.Duration) {
	o := m.callOperation(id, "diff", ranks, began)
	m.collect(o, id, func(answers []session.Event, done session.Done) {
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
				switch g.Kind { // for ranks that had answered the first request
				case protocol.KindMissing:
					done.Missing, done.Answered = done.Missing.Union(g.Ranks), done.Answered-g.Ranks.Len()
				case protocol.KindLost:
					done.Lost, done.Answered = done.Lost.Union(g.Ranks), done.Answered-g.Ranks.Len()
				case protocol.KindFault:
					done.Faults += g.Ranks.Len()
				}
				m.push(session.Event{Name: g.Kind.String(), ID: id, Command: "diff", Group: g})
			}
			m.push(rest...)
			done.Took = m.now() - began
			m.push(session.Event{Name: session.DoneName, ID: id, Command: "diff", Done: &done})
		}
		if mayBeArray(answers) && results.Len() > 1 {
			m.compareArrays(o, args, results, func() time.Duration { return left(wait, m.now()-began) },
				func(groups []protocol.Group) {
					if groups != nil {
						finish(groups)
						return
					}
					m.compareValues(o, id, args, results, values, left(wait, m.now()-began), finish)
				})
			return
		}
		m.compareValues(o, id, args, results, values, left(wait, m.now()-began), finish)
	})
}

// compareValues divides ranks by the text of the values that they have printed.
func (m *Master) compareValues(o *operation, id protocol.RequestID, args protocol.Args, results rank.Set,
	values column.Column, wait time.Duration, finish func([]protocol.Group)) {
	hash, some := values.Majority()
	switch {
	case results.IsEmpty():
		finish(nil)
	case args.Tolerance > 0 && values.Complete():
		finish(splitByTolerance(args, values))
	case !some:
		finish(differenceGroups(difference{Expr: args.Expr}, rank.Set{}, results, column.Column{}, values))
	case values.Complete():
		finish(splitByValue(args.Expr, values))
	default:
		m.ask(o, "expand", results, wait, protocol.Args{Of: id, Hash: hash, Limit: args.Limit},
			func(answers []session.Event, _ session.Done) {
				finish(splitByServers(args.Expr, results, values, answers))
			})
	}
}

// differenceGroups makes the groups of a diff; an empty set makes none.
func differenceGroups(body difference, same, differ rank.Set, ofSame, ofOthers column.Column) []protocol.Group {
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

// splitByValue compares values in a complete column.
func splitByValue(expr string, values column.Column) []protocol.Group {
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
	return differenceGroups(difference{Expr: expr}, same, differ, ofSame, ofOthers)
}

// splitByServers merges the servers' answers about the majority's hash. If the ranks with that
// hash are not a majority, there is none: the hash was of no rank's value, or of several values.
// Ranks whose server does not keep its answer any more are among the others.
func splitByServers(expr string, results rank.Set, values column.Column, answers []session.Event) []protocol.Group {
	var same rank.Set
	ofSame, ofOthers := column.Column{Name: "value"}, column.Column{Name: "value"}
	for _, e := range answers {
		var body struct {
			Same bool `json:"same"`
		}
		if e.Group.Kind != protocol.KindResult || json.Unmarshal(e.Group.Body, &body) != nil {
			continue
		}
		switch c, some := e.Group.Column("value"); {
		case !some:
		case body.Same:
			same, ofSame = same.Union(e.Group.Ranks), ofSame.Merge(c)
		default:
			ofOthers = ofOthers.Merge(c)
		}
	}
	if same.IsEmpty() || !ofSame.Alike() || 2*same.Len() <= results.Len() {
		return differenceGroups(difference{Expr: expr}, rank.Set{}, results, column.Column{}, values)
	}
	return differenceGroups(difference{Expr: expr}, same, results.Minus(same), ofSame, ofOthers)
}

// splitByTolerance is splitByValue with a tolerance.
func splitByTolerance(args protocol.Args, values column.Column) []protocol.Group {
	var all rank.Set
	for _, v := range values.Values() {
		all = all.Union(v.Ranks)
	}
	far := farRanks(values, args.Tolerance)
	same := all.Minus(far)
	if 2*same.Len() <= all.Len() {
		return differenceGroups(difference{Expr: args.Expr, Tolerance: args.Tolerance}, rank.Set{}, all, column.Column{},
			values)
	}
	return differenceGroups(difference{Expr: args.Expr, Tolerance: args.Tolerance}, same, far, values.Only(same),
		values.Only(far))
}
