// Verdicts for programs that read events.

package verdict

import (
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// Sentences returns the findings of a graph for other programs; see Of.
func Sentences(g *wait.Graph, samples int) []session.Finding { return sentences(Of(g, samples)) }

func sentences(found []Finding) []session.Finding {
	all := []session.Finding{}
	for _, f := range found {
		all = append(all, session.Finding{Kind: f.Kind.String(), Certain: f.Certain, Ranks: f.Ranks, Text: f.Text})
	}
	return all
}

// Judge adds to the end of each call of stacks the verdict on its answers. The zero value is ready for use by one
// goroutine.
type Judge struct {
	answers map[protocol.RequestID][]protocol.Group // of calls of stacks that have not ended
	ended   rank.Set
}

// Look must be called with all events of a session in order. It returns the event, with the verdict if it is the end
// of a call of stacks whose answers have waits.
func (j *Judge) Look(e session.Event) session.Event {
	switch {
	case e.Done != nil:
		answers := j.answers[e.ID]
		delete(j.answers, e.ID)
		if len(e.Done.Verdict) > 0 {
			break
		}
		found := guarded(func() []Finding {
			g, samples := GraphOf(answers, j.ended)
			if g.IsEmpty() {
				return nil
			}
			return Of(g, samples)
		})
		if len(found) > 0 {
			done := *e.Done
			done.Verdict = sentences(found)
			e.Done = &done
		}
	case e.Command == "stacks" && !e.Late:
		if j.answers == nil {
			j.answers = map[protocol.RequestID][]protocol.Group{}
		}
		g := e.Group
		g.Stack, g.Columns = nil, nil
		j.answers[e.ID] = append(j.answers[e.ID], g)
	case e.Group.Kind == protocol.KindExited || e.Group.Kind == protocol.KindSignalled:
		j.ended = j.ended.Union(e.Group.Ranks)
	case e.Group.Kind == protocol.KindRunning || e.Group.Kind == protocol.KindStopped:
		j.ended = j.ended.Minus(e.Group.Ranks)
	}
	return e
}
