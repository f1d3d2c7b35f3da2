// Ranks that this server has not started.

package server

import "sdm/protocol/rank"

// others are the ranks that this server has not started: they ran before, are core files, or are
// simulated. They have no child process and no streams here. They are kept as sets, because a
// server may have thousands of them.
type others struct {
	known rank.Set
	ended rank.Set // subset of known
}

func (o *others) add(ranks rank.Set) {
	o.known, o.ended = o.known.Union(ranks), o.ended.Minus(ranks)
}

func (o *others) end(ranks rank.Set) { o.ended = o.ended.Union(ranks.Intersect(o.known)) }

// forget removes ranks that this server has started itself.
func (o *others) forget(ranks rank.Set) {
	o.known, o.ended = o.known.Minus(ranks), o.ended.Minus(ranks)
}

// live returns the ranks that have not ended.
func (o *others) live() rank.Set { return o.known.Minus(o.ended) }
