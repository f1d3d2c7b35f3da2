// Slots whose rank is not debugged.

package main

import (
	"fmt"

	"sdm/launch/local"
	"sdm/protocol/rank"
)

// runFree replaces this process by the program of its slot if --ranks leaves its rank out. It
// returns 0 if the rank is to be debugged, and the status to exit with after an error. If the set
// does not fit the job, only rank 0 reports it.
func (p *program) runFree() (status int) {
	o, number := p.o, p.number
	if o.ranks == "" {
		return 0
	}
	all := rank.Range(0, rank.MaxID)
	if number.Size > 0 {
		all = rank.Range(0, rank.ID(number.Size-1))
	}
	own := rank.ID(number.Number)
	set, err := rank.Parse(o.ranks, rank.Env{All: all})
	if err == nil && (set.IsEmpty() || !set.Minus(all).IsEmpty()) {
		err = fmt.Errorf("%s: the job has %s", o.ranks, all)
	}
	switch {
	case err == nil && set.Contains(own):
		return 0
	case err == nil:
		return complain(local.Become(local.Spec{Rank: own, Program: o.program[0], Args: o.program[1:], Env: p.env},
			p.inherited), exitNotStarted)
	case own == 0:
		return complain(fmt.Errorf("--ranks: %w", err), exitUsage)
	}
	return exitUsage
}
