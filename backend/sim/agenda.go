// Queue of future outputs and stops, ordered by time.

package sim

import (
	"slices"
	"time"

	"sdm/protocol"
)

// output is one call of the Sink.
type output struct {
	id     protocol.RequestID
	reply  bool // otherwise events
	groups []protocol.Group
}

// arrival is the end of a run. It is ignored if the rank has been stopped since, which changes its
// turn.
type arrival struct {
	state *state
	turn  int
}

// agenda holds outputs and arrivals by the time when they are due, in nanoseconds since the start
// of the clock.
type agenda struct {
	dues []time.Duration // ascending
	at   map[time.Duration]*dueEntry
}

// dueEntry is the outputs and arrivals of one time; outputs come first.
type dueEntry struct {
	outputs  []output
	arrivals []arrival
}

func (a *agenda) entry(due time.Duration) *dueEntry {
	if s := a.at[due]; s != nil {
		return s
	}
	if a.at == nil {
		a.at = map[time.Duration]*dueEntry{}
	}
	i, _ := slices.BinarySearch(a.dues, due)
	a.dues = slices.Insert(a.dues, i, due)
	a.at[due] = &dueEntry{}
	return a.at[due]
}

// first returns the earliest time in the agenda.
func (a *agenda) first() (due time.Duration, ok bool) {
	if len(a.dues) == 0 {
		return 0, false
	}
	return a.dues[0], true
}

func (a *agenda) pop() *dueEntry {
	s := a.at[a.dues[0]]
	delete(a.at, a.dues[0])
	a.dues = a.dues[1:]
	return s
}

// batch collects the answers or events of many ranks from one input, and merges those that are due
// at the same time.
type batch struct {
	m     *machine
	now   time.Duration
	id    protocol.RequestID
	reply bool
	limit int
	dues  []time.Duration
	folds []*fold // one for each of dues
}

// add adds the answer of a rank after a delay, but not before the rank's earlier answers.
func (b *batch) add(s *state, delay time.Duration, a answer) {
	due := max(b.now+delay, s.last)
	s.last = due
	i := len(b.dues) - 1
	if i < 0 || b.dues[i] != due {
		i = slices.Index(b.dues, due)
	}
	if i < 0 {
		i = len(b.dues)
		b.dues = append(b.dues, due)
		b.folds = append(b.folds, &fold{limit: b.limit, whole: b.reply, mpi: b.m.mpi})
	}
	b.folds[i].add(s.rank, a)
}

// send passes answers that are due to the machine's outputs, and the rest to its agenda.
func (b *batch) send() {
	for i, due := range b.dues {
		o := output{id: b.id, reply: b.reply, groups: b.folds[i].groups()}
		if due <= b.now {
			b.m.out = append(b.m.out, o)
		} else {
			s := b.m.agenda.entry(due)
			s.outputs = append(s.outputs, o)
		}
	}
}
