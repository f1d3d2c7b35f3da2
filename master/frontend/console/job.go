// The ranks, what they do, and the calls that may change it.

package console

import (
	"slices"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// job is what the console knows about the ranks: their states by events, and the calls of the
// session that are outstanding or were complete a short time ago.
type job struct {
	all    rank.Set
	states *session.States
	calls  map[protocol.RequestID]*call
	// following are the outstanding calls of commands of breakpoints.
	following []*call
	old       []protocol.RequestID // completed calls, oldest first
}

// busy returns the ranks that run, or are about to by a call in progress.
func (j *job) busy() rank.Set {
	busy := j.states.In(session.Running, session.Starting)
	for _, x := range j.calls {
		if x.done {
			busy = busy.Union(x.moving())
		} else if x.resumes() {
			busy = busy.Union(j.all) // until it has answered, any rank may be about to run
		}
	}
	return busy
}

// ending returns the ranks that a kill or detach has not ended yet.
func (j *job) ending(x *call) rank.Set {
	if !x.ends() {
		return rank.Set{}
	}
	return x.results.Minus(j.states.Ended())
}

// keptCalls is how many completed calls are kept for late answers.
const keptCalls = 256

// ranksOf returns the ranks of a text; all ranks if only the master can evaluate it.
func (j *job) ranksOf(text string) rank.Set {
	var set rank.Set
	if text == "" || set.UnmarshalText([]byte(text)) != nil {
		return j.all
	}
	return set
}

// retire drops the oldest of the completed calls.
func (j *job) retire(x *call) {
	x.groups = nil
	j.old = append(j.old, x.id)
	if len(j.old) > keptCalls {
		delete(j.calls, j.old[0])
		j.old = j.old[1:]
	}
}

// isStarting reports whether the launch or attach is incomplete.
func (j *job) isStarting() bool { return j.starting() != nil }

// starting returns the launch or attach if it is incomplete, or nil.
func (j *job) starting() *call {
	for _, x := range j.calls {
		if x.starts && !x.done {
			return x
		}
	}
	return nil
}

// waitedFor returns the stopped ranks that have not answered a call yet.
func (j *job) waitedFor(x *call) rank.Set {
	if x == nil || x.done || x.starts {
		return rank.Set{}
	}
	return x.ranks.Intersect(j.states.In(session.Stopped))
}

// followed reports whether the commands of breakpoints are complete, and, if stopped, whether the
// ranks that they have resumed have stopped again.
func (j *job) followed(stopped bool) bool {
	j.following = slices.DeleteFunc(j.following, func(x *call) bool { return x.done && x.moving().IsEmpty() })
	return !slices.ContainsFunc(j.following, func(x *call) bool { return !x.done || stopped })
}

// setText returns the text of a set for a call.
func (j *job) setText(s rank.Set) string {
	if s.Equal(j.all) {
		return "" // the same, and shorter
	}
	return s.String()
}
