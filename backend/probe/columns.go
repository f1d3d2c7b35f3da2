// Columns of the answer to stacks.

package probe

import (
	"slices"
	"strings"

	"sdm/backend/probe/internal/hold"
	"sdm/backend/probe/internal/sampler"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// maxActivities bounds the distinct values of the columns of an answer.
const maxActivities = 256

// activities returns the states of the threads of ranks in a sample, and their processor time since
// the first sample, as columns. sample is the number of the sample, from 1.
func (b *Backend) activities(ranks rank.Set, sample int) []column.Column {
	states, cpu := map[string]rank.Set{}, map[string]rank.Set{}
	for r := range ranks.All() {
		w, one := b.ranks[r], rank.Range(r, r)
		now := hold.UsageOf(w.pid)
		if sample == 1 {
			w.began = now
		}
		s, c := hold.States(w.pid), ""
		if sample > 1 {
			c = now.Since(w.began)
		}
		states[s], cpu[c] = states[s].Union(one), cpu[c].Union(one)
	}
	return []column.Column{
		columnOf(protocol.CPUPercent, cpu, maxActivities),
		columnOf(protocol.ThreadStates, states, maxActivities),
	}
}

// progressOf returns columns with what has changed in ranks and, with a variable, why it has no value there.
func (b *Backend) progressOf(ids []rank.ID, samples []sampler.Sample, variable bool) []column.Column {
	b.tells.Store(true)
	all, troubles := map[string]rank.Set{}, map[string]rank.Set{}
	for i, s := range samples {
		if s.Err != nil || s.Signs == nil {
			continue
		}
		w, one := b.ranks[ids[i]], rank.Range(ids[i], ids[i])
		words := w.progress.Compare(w.pid, s.Signs, variable)
		all[words] = all[words].Union(one)
		if variable {
			troubles[s.Signs.Trouble] = troubles[s.Signs.Trouble].Union(one)
		}
	}
	columns := []column.Column{columnOf(protocol.Progress, all, maxActivities)}
	if variable {
		columns = append(columns, columnOf(protocol.ProgressTrouble, troubles, maxActivities))
	}
	return columns
}

// remarks are facts about the libraries of ranks: the ranks by Sample.Lock, Sample.Unknown and Sample.MPI.
type remarks struct{ lock, unknown, mpi map[string]rank.Set }

func (r *remarks) add(one rank.Set, s *sampler.Sample) {
	if r.lock == nil {
		r.lock, r.unknown, r.mpi = map[string]rank.Set{}, map[string]rank.Set{}, map[string]rank.Set{}
	}
	r.lock[s.Lock] = r.lock[s.Lock].Union(one)
	r.unknown[s.Unknown] = r.unknown[s.Unknown].Union(one)
	r.mpi[s.MPI] = r.mpi[s.MPI].Union(one)
}

// columns returns the remarks as columns. All ranks have the same columns, so that their groups can be
// merged.
func (r *remarks) columns() []column.Column {
	return []column.Column{
		columnOf(protocol.PythonLock, r.lock, 0),
		columnOf(protocol.PythonUnknown, r.unknown, 0),
		columnOf(protocol.MPIVersion, r.mpi, 0),
	}
}

// columnOf returns the column of the ranks by value. Ranks with the value "" have none. limit is the argument of
// column.OfValues.
func columnOf(name string, ranks map[string]rank.Set, limit int) column.Column {
	var values []column.ValueCount
	for v, s := range ranks {
		if v != "" {
			values = append(values, column.ValueCount{Value: v, Ranks: s})
		}
	}
	if len(values) == 0 {
		return column.Column{Name: name}
	}
	return column.OfValues(name, values, limit).Limited()
}

// columnsOf returns the columns of the lists, restricted to some ranks, in the order of their names.
func columnsOf(ranks rank.Set, lists ...[]column.Column) (out []column.Column) {
	for _, c := range slices.Concat(lists...) {
		out = append(out, c.Only(ranks))
	}
	slices.SortFunc(out, func(c, d column.Column) int { return strings.Compare(c.Name, d.Name) })
	return out
}
