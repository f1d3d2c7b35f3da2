// The Sink of the suite, and the rules for the calls of a back end.

package backendtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"sdm/backend"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// checker is the Sink. It records the calls, and checks these rules:
//
//   - calls do not overlap, and none comes after Close;
//   - each rank of a request answers once, and no other rank does;
//   - each event of a rank is possible in its backend.State;
//   - the running event precedes the answer to the command that resumes the rank;
//   - bodies are canonical JSON, columns are sorted, each rank is once in each.
type checker struct {
	mu      sync.Mutex
	changed sync.Cond
	inCall  bool
	over    bool
	late    bool // the wait has timed out
	broken  []error
	log     []string

	state map[rank.ID]backend.State
	asked map[protocol.RequestID]*question
	// watched are ranks without a debugger. Its first stop is of no command.
	watched rank.Set
	// untold are the ones whose event has not come yet.
	untold rank.Set
	fresh  []protocol.Group // events since the last outcome
}

// question is an outstanding request.
type question struct {
	info       protocol.CommandInfo
	unanswered rank.Set
	executed   rank.Set         // ranks that have executed it
	ran        map[rank.ID]bool // ranks that have reported running since
	answers    []protocol.Group
}

func newChecker() *checker {
	w := &checker{state: map[rank.ID]backend.State{}, asked: map[protocol.RequestID]*question{}}
	w.changed.L = &w.mu
	return w
}

// isNew reports whether a rank may be attached to.
func (w *checker) isNew(r rank.ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.state[r]
	return !ok || s.IsOver()
}

// expect records a request that is about to be made.
func (w *checker) expect(id protocol.RequestID, ranks rank.Set, info protocol.CommandInfo) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = false
	w.asked[id] = &question{info: info, unanswered: ranks, ran: map[rank.ID]bool{}}
	if info.Name != "attach" {
		return
	}
	for r := range ranks.All() {
		if s, ok := w.state[r]; !ok || s.IsOver() {
			w.state[r] = backend.Attaching
		}
	}
}

// expectWatched records an attach to ranks, of which fresh are to be watched.
func (w *checker) expectWatched(id protocol.RequestID, ranks, fresh rank.Set) {
	w.expect(id, ranks, protocol.CommandInfo{Name: "attach"})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched, w.untold = w.watched.Union(fresh), w.untold.Union(fresh)
	for r := range fresh.All() {
		w.state[r] = backend.Running
	}
}

// Reply implements backend.Sink.
func (w *checker) Reply(id protocol.RequestID, groups ...protocol.Group) {
	defer w.enter()()
	q := w.asked[id]
	for _, g := range groups {
		w.record(fmt.Sprintf("%d: ", id), g)
		if g.Kind != protocol.KindResult && g.Kind != protocol.KindFault {
			w.violation("request %d: an answer of kind %v", id, g.Kind)
		}
		if q == nil {
			w.violation("an answer to request %d, which was never made", id)
			continue
		}
		if extra := g.Ranks.Minus(q.unanswered); !extra.IsEmpty() {
			w.violation("request %d (%s): answers of ranks %v, which were not asked or have answered", id, q.info.Name, extra)
		}
		q.unanswered = q.unanswered.Minus(g.Ranks)
		q.answers = append(q.answers, g)
		if g.Kind != protocol.KindResult {
			continue
		}
		q.executed = q.executed.Union(g.Ranks)
		for r := range g.Ranks.All() {
			if q.info.Resumes && !q.ran[r] {
				w.violation("request %d (%s): rank %d has answered without a running event", id, q.info.Name, r)
			}
		}
	}
}

// Event implements backend.Sink.
func (w *checker) Event(groups ...protocol.Group) {
	defer w.enter()()
	for _, g := range groups {
		w.record("", g)
		w.fresh = append(w.fresh, w.ofCommands(g)...)
		if g.Kind == protocol.KindWatched {
			w.untold = w.untold.Minus(g.Ranks)
		}
		if g.Kind == protocol.KindWatched || g.Kind.IsInformational() || g.Kind.IsOutput() {
			continue
		}
		for r := range g.Ranks.All() {
			next, ok := w.state[r].After(g.Kind)
			if !ok {
				w.violation("rank %d is %v: %v cannot come", r, w.state[r], g.Kind)
			}
			w.state[r] = next
			for _, q := range w.asked {
				if q.unanswered.Contains(r) && g.Kind == protocol.KindRunning {
					q.ran[r] = true
				}
			}
		}
	}
}

// ofCommands returns the part of an event that is to be in the transcript: not what only one version
// of gdb says, and not the first stop of ranks that had no debugger.
func (w *checker) ofCommands(g protocol.Group) []protocol.Group {
	if isOfOneVersion(g) {
		return nil
	}
	if g.Kind != protocol.KindStopped || !w.watched.Intersects(g.Ranks) {
		return []protocol.Group{g}
	}
	rest := g.Ranks.Minus(w.watched)
	w.watched = w.watched.Minus(g.Ranks)
	if part, ok := g.Narrow(rest); ok {
		return []protocol.Group{part}
	}
	return nil
}

// enter begins a call of the Sink; leave ends it.
func (w *checker) enter() (leave func()) {
	w.mu.Lock()
	if w.inCall {
		w.violation("calls overlap")
	}
	if w.over {
		w.violation("a call after Close")
	}
	w.inCall = true
	return func() {
		w.inCall = false
		w.changed.Broadcast()
		w.mu.Unlock()
	}
}

// violation records a violation of a rule.
func (w *checker) violation(format string, args ...any) {
	w.broken = append(w.broken, fmt.Errorf(format, args...))
}

// record records a group and checks its form.
func (w *checker) record(prefix string, g protocol.Group) {
	w.log = append(w.log, prefix+g.String())
	var compact bytes.Buffer
	if !g.Kind.IsOutput() {
		if err := json.Compact(&compact, g.Body); err != nil || !bytes.Equal(compact.Bytes(), g.Body) {
			w.violation("%v: the body is not canonical JSON: %v", g, err)
		}
	}
	if g.Ranks.IsEmpty() {
		w.violation("%v: no ranks", g)
	}
	if !slices.IsSortedFunc(g.Columns, func(a, b column.Column) int { return strings.Compare(a.Name, b.Name) }) {
		w.violation("%v: columns are not sorted", g)
	}
	for _, c := range g.Columns {
		if c.Count() != g.Ranks.Len() && !isOfSome(c) {
			w.violation("%v: column %s has the values of %d ranks", g, c.Name, c.Count())
		}
	}
}

// isOfSome reports whether a column has values of some ranks only: what the probe tells of those
// that have a Python, or a library of MPI.
func isOfSome(c column.Column) bool {
	return strings.HasPrefix(c.Name, "python.") || c.Name == protocol.MPIVersion
}

// timeOut ends the wait for an outcome.
func (w *checker) timeOut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = true
	w.changed.Broadcast()
}

// outcome waits until a request has reached its aim, and returns its answers and events.
func (w *checker) outcome(id protocol.RequestID, what aim) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.asked[id]
	for !w.reached(q, what) && !w.late && len(w.broken) == 0 {
		w.changed.Wait()
	}
	switch {
	case len(w.broken) > 0:
		return "", errors.Join(w.broken...)
	case !w.reached(q, what):
		return "", fmt.Errorf("request %d (%s) is not finished; ranks %v have not answered", id, q.info.Name, q.unanswered)
	}
	text := lines(q.answers) + events(w.fresh)
	w.fresh = nil
	return text, nil
}

func (w *checker) reached(q *question, what aim) bool {
	if !q.unanswered.IsEmpty() {
		return false
	}
	if what == toAnswer {
		return w.untold.IsEmpty()
	}
	for r := range q.executed.All() {
		s := w.state[r]
		if !s.IsOver() && (what == toEnd || s != backend.Stopped) {
			return false
		}
	}
	return true
}

// closed forbids further calls.
func (w *checker) closed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

func (w *checker) transcript() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.log, "\n")
}
