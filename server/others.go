package server

import "sdm/protocol/rank"

// others are the ranks of this server that it has not started: they ran before it
// came, are core files, or are simulated. There is no process of ours and no stream,
// so they are kept as sets: a server may have thousands.
type others struct {
	known rank.Set
	ended rank.Set // of these
}

func (o *others) add(ranks rank.Set) {
	o.known, o.ended = o.known.Union(ranks), o.ended.Minus(ranks)
}

func (o *others) end(ranks rank.Set) { o.ended = o.ended.Union(ranks.Intersect(o.known)) }

// forget tells that we have started these ranks ourselves.
func (o *others) forget(ranks rank.Set) {
	o.known, o.ended = o.known.Minus(ranks), o.ended.Minus(ranks)
}

// live are those that have not ended.
func (o *others) live() rank.Set { return o.known.Minus(o.ended) }
