// Package text formats answers and events for users: one line for each distinct answer, biggest
// group first, with its ranks and then the words of GDB.
//
// It is pure.
package text

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Writer formats answers and events. The zero value is for plain text in a file.
type Writer struct {
	// Color adds terminal colours to ranks and failures.
	Color bool
	// Terminal makes control characters in output of ranks harmless, so that it cannot move the
	// cursor or set the title of the terminal. Without it that is unchanged; all else has none.
	Terminal bool
	// All are the ranks of the session. A contiguous set that is the whole of an answer, or equal
	// to All, is written without a count.
	All rank.Set
}

// Asked describes the request that answers belong to.
type Asked struct {
	Command string // of the session: "print"
	Label   string // text before each answer: "n" gives "n = 0x5"
	Format  string // gdb's letters of the format of values
	Ranks   rank.Set
	// Full writes every distinct value on its own line (expand).
	Full bool
	// Export is the format of stacks: "folded", "dot", "json"; "" is text. With "waits" in front of
	// it, it is the format of what the ranks wait for, and "waits" alone is its text.
	Export string
	// Explain adds to a verdict what it is based on.
	Explain bool
	// Gone are the ranks that had ended when the answers came.
	Gone []session.StatusGroup
}

// Answers returns the text of all answers to one request. folded tells that values were summarised,
// so that Full would show more.
func (w *Writer) Answers(a Asked, groups []protocol.Group) (out string, folded bool) {
	var all []answer
	var words []answer // texts and faults of gdb
	front := w.verdict(a, groups)
	if strings.HasPrefix(a.Export, waits) {
		groups = slices.DeleteFunc(slices.Clone(groups), func(g protocol.Group) bool { return g.Kind == protocol.KindResult })
	}
	groups, gone := separateGone(a, groups)
	for _, g := range groups {
		parts, f := w.parts(a, g)
		for _, x := range parts {
			if x.words || g.Kind == protocol.KindFault {
				words = append(words, x)
			} else {
				all = append(all, x)
			}
		}
		folded = folded || f
	}
	if !a.Full {
		var joined bool
		words, joined = joinPlaces(words)
		folded = folded || joined
	}
	all = append(all, words...)
	whole := a.Ranks
	for _, g := range groups {
		whole = whole.Union(g.Ranks)
	}
	switch a.Command {
	case "info hosts", "info file", "info output": // tables, whose rows are in order
	default:
		sortAnswers(all)
	}
	whole = whole.Union(gone)
	if !gone.IsEmpty() {
		all = append(all, answer{ranks: gone, lines: []string{w.goneLine(a.Gone, gone)}, bad: true})
	}
	var b strings.Builder
	for _, line := range front {
		b.WriteString(line + "\n")
	}
	for _, x := range all {
		w.write(&b, x, whole)
	}
	return b.String(), folded
}

// Said returns the text of an answer to a command without the ranks that gave it, for a table that names them.
func Said(command string, g protocol.Group) string {
	g.Ranks = rank.Set{}
	out, _ := (&Writer{}).Answers(Asked{Command: command, Full: true}, []protocol.Group{g})
	return strings.TrimSpace(out)
}

// Late returns the text of an answer that came after its request was done.
func (w *Writer) Late(a Asked, g protocol.Group) string {
	parts, _ := w.parts(a, g)
	sortAnswers(parts)
	var b strings.Builder
	for _, x := range parts {
		x.note = "late: "
		w.write(&b, x, rank.Set{})
	}
	return b.String()
}

// Event returns the text of an unsolicited event; "" for events that are not shown, such as that a
// rank runs.
func (w *Writer) Event(e session.Event) string {
	var b strings.Builder
	if e.Group.Kind.IsOutput() {
		w.output(&b, e.Group, e.From)
		return b.String()
	}
	if x, ok := w.eventAnswer(inLine(e.Group)); ok {
		w.write(&b, x, w.All)
	}
	return b.String()
}

// parts formats one group of answers.
func (w *Writer) parts(a Asked, g protocol.Group) (parts []answer, folded bool) {
	g = inLine(g)
	switch g.Kind {
	case protocol.KindResult:
		return w.result(a, g)
	case protocol.KindFault, protocol.KindMissing, protocol.KindLost:
		return []answer{failure(g)}, false
	}
	x, ok := w.eventAnswer(g)
	if !ok {
		return nil, false
	}
	return []answer{x}, false
}

// decode reads a body; false if it is invalid. The caller then shows the body unchanged, so that no
// answer is lost by a defect of sdm.
func decode(body []byte, into any) bool {
	return json.Unmarshal(body, into) == nil
}

// raw returns the answer for a body that could not be read.
func raw(g protocol.Group) answer {
	return answer{ranks: g.Ranks, lines: strings.Split(string(bytes.TrimRight(g.Body, "\n")), "\n")}
}
