package text

import (
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/wait"
)

// Waits returns what the ranks of answers to stacks wait for, and how many samples were compared.
// Ranks that did not answer are among them, and those that have ended.
func Waits(a Asked, groups []protocol.Group) (g *wait.Graph, samples int) {
	samples = 1
	for _, x := range groups {
		g = g.Merge(x.Waits)
		var body struct {
			Samples int `json:"samples"`
		}
		if x.Kind == protocol.KindResult && decode(x.Body, &body) {
			samples = max(samples, body.Samples)
		}
	}
	if g == nil {
		return nil, samples
	}
	for _, x := range groups {
		if x.Kind == protocol.KindMissing || x.Kind == protocol.KindLost {
			g = g.Merge(wait.Of(x.Ranks, wait.Rank{Doing: wait.Doing{State: wait.Silent}}))
		}
	}
	for _, x := range a.Gone {
		g = g.Merge(wait.Of(x.Ranks, wait.Rank{Doing: wait.Doing{State: wait.Dead}}))
	}
	return g, samples
}

// verdict returns why the ranks of answers to stacks do not go on: a line for each cause, in front of
// the trees.
func (w *Writer) verdict(a Asked, groups []protocol.Group) (lines []string) {
	if a.Command != "stacks" || a.Export != "" {
		return nil
	}
	return w.findings(Waits(a, groups))
}

func (w *Writer) findings(g *wait.Graph, samples int) (lines []string) {
	for _, f := range verdict.Of(g, samples) {
		label := "so far: "
		if f.Certain {
			label = "certain: "
		}
		if f.Kind == verdict.NoVerdict {
			label = "no verdict: "
		}
		lines = append(lines, w.paint(f.Kind <= verdict.Mismatch, w.clean(label+f.Text)))
	}
	return lines
}
