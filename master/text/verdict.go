// What ranks wait for, as text.

package text

import (
	"slices"
	"strings"

	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/protocol/wait"
)

// Waits returns what the ranks of answers to stacks wait for, and how many samples were compared.
// Ranks that did not answer are among them, and those that have ended.
func Waits(a Asked, groups []protocol.Group) (g *wait.Graph, samples int) {
	var ended rank.Set
	for _, x := range a.Gone {
		ended = ended.Union(x.Ranks)
	}
	return verdict.GraphOf(groups, ended)
}

// verdict returns why the ranks of answers to stacks do not go on: a line for each cause, in front of
// the trees.
func (w *Writer) verdict(a Asked, groups []protocol.Group) (lines []string) {
	switch {
	case a.Command != "stacks":
		return nil
	case a.Export == "":
		g, samples := Waits(a, groups)
		return w.findings(a, g, samples)
	case a.Export == waits:
		return w.waits(a, groups)
	}
	text := ExportWaits(a, groups)
	if text == "" {
		return nil
	}
	lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return lines
}

// waits begins the formats of what ranks wait for.
const waits = "waits"

// waits writes what the ranks wait for: why they do not go on, then a line for each distinct call, or
// other thing that ranks do.
func (w *Writer) waits(a Asked, groups []protocol.Group) (lines []string) {
	g, samples := Waits(a, groups)
	if g.IsEmpty() {
		if slices.ContainsFunc(groups, func(g protocol.Group) bool { return g.Kind == protocol.KindResult }) {
			lines = append(lines, "what these ranks wait for is not known: there is no process of theirs that can be read")
		}
		return lines
	}
	lines = w.findings(a, g, samples)
	for _, r := range verdict.Rows(g) {
		lines = append(lines, w.header(r.Ranks, rank.Set{})+" "+Clean(r.Text))
	}
	return lines
}

// ExportWaits returns what the ranks of answers wait for, in a format for other programs; "" if the
// format is not one of those, or nothing is known.
func ExportWaits(a Asked, groups []protocol.Group) string {
	if a.Export != waits+"dot" && a.Export != waits+"json" {
		return ""
	}
	g, samples := Waits(a, groups)
	if g.IsEmpty() {
		return ""
	}
	found := verdict.Of(g, samples)
	if a.Export == waits+"dot" {
		return verdict.DOT(g, found)
	}
	return verdict.JSON(g, found)
}

func (w *Writer) findings(a Asked, g *wait.Graph, samples int) (lines []string) {
	for _, f := range verdict.Of(g, samples) {
		label := verdict.Label(f.Kind.String(), f.Certain)
		lines = append(lines, w.paint(f.Kind <= verdict.Mismatch, Clean(label+": "+f.Text)))
		if a.Explain {
			for _, line := range verdict.Evidence(g, samples, f) {
				lines = append(lines, "  "+Clean(line))
			}
		}
	}
	return lines
}
