// Ranks that have no answer because they have ended, in one line.

package text

import (
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// separateGone separates the refusals of ranks that have ended from the answers to one request. Their
// ends were reported before, so that naming the ranks is sufficient. If all answers are faults of
// such ranks, they are unchanged.
func separateGone(a Asked, groups []protocol.Group) (rest []protocol.Group, gone rank.Set) {
	var ended rank.Set
	for _, g := range a.Gone {
		ended = ended.Union(g.Ranks)
	}
	only := true
	for _, g := range groups {
		if refusal(g) && !g.Ranks.IsEmpty() && g.Ranks.Minus(ended).IsEmpty() {
			gone = gone.Union(g.Ranks)
			only = only && g.Kind == protocol.KindFault
			continue
		}
		only = false
		rest = append(rest, g)
	}
	if only {
		return groups, rank.Set{}
	}
	return rest, gone
}

// refusal reports whether ranks have no answer because of their state.
func refusal(g protocol.Group) bool {
	return g.Kind == protocol.KindLost || g.HasFault(protocol.FaultState)
}

// goneLine returns "has exited", or for different ends "gone: [2-3] exited, [1] ended by SIGKILL".
func (w *Writer) goneLine(all []session.StatusGroup, gone rank.Set) string {
	var words []string
	ranks := map[string]rank.Set{}
	for _, g := range all {
		common := g.Ranks.Intersect(gone)
		if common.IsEmpty() {
			continue
		}
		word := ending(g.Status)
		if _, ok := ranks[word]; !ok {
			words = append(words, word)
		}
		ranks[word] = ranks[word].Union(common)
	}
	if len(words) == 1 {
		return choose(gone.Len() == 1, "has ", "have ") + choose(words[0] == "exited", "", "been ") + words[0]
	}
	for i, word := range words {
		words[i] = "[" + clipped(ranks[word]) + "] " + word
	}
	return "gone: " + strings.Join(words, ", ")
}

// ending returns in a few words how a rank has ended.
func ending(s session.Status) string {
	if s.State == session.Signalled && s.Signal != "" {
		return "ended by " + s.Signal
	}
	return string(s.State)
}
