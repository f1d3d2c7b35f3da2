// Package text writes answers and events as a person reads them: one line per
// distinct answer, the biggest group first, its ranks in front, then the words
// that GDB's users know.
//
// It is pure: events go in, text comes out.
package text

import (
	"bytes"
	"encoding/json"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// Writer knows how this person wants things written. The zero value writes
// plain text for a file.
type Writer struct {
	// Color puts the colours of a terminal around ranks and failures.
	Color bool
	// Terminal makes control characters from programs harmless: what a rank
	// writes must not move the cursor or set the title of our terminal. To a
	// file or a pipe they go byte for byte.
	Terminal bool
	// All are the ranks of the session. A contiguous set that is the whole of
	// an answer, or of these, has no count behind it.
	All rank.Set
}

// Asked says what answers belong to.
type Asked struct {
	Command string // of the session: "print"
	Label   string // what stands before each text instead of nothing: "n" gives "n = 0x5"
	Format  string // of gdb's letters, in which values were asked for
	Ranks   rank.Set
	// Full writes every distinct value on a line of its own (expand).
	Full bool
	// Export is the form in which stacks are wanted: "folded", "dot", "json"; ""
	// is for people.
	Export string
	// Gone are the ranks that had ended when the answers came.
	Gone []session.StatusGroup
}

// Answers gives the text of all answers to one request. folded tells that
// values were summarised, so that writing them Full would show more.
func (w *Writer) Answers(a Asked, groups []protocol.Group) (out string, folded bool) {
	var all []answer
	var words []answer // of gdb, or what it refuses
	groups, gone := partGone(a, groups)
	for _, g := range groups {
		parts, f := w.parts(a, g)
		if g.Kind == protocol.KindFault || g.Kind == protocol.KindResult && wordy[a.Command] {
			words = append(words, parts...)
		} else {
			all = append(all, parts...)
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
	if a.Command != "info hosts" { // a table, whose rows have their order
		sortAnswers(all)
	}
	whole = whole.Union(gone)
	if !gone.IsEmpty() {
		all = append(all, answer{ranks: gone, lines: []string{w.goneLine(a.Gone, gone)}, bad: true})
	}
	var b strings.Builder
	for _, x := range all {
		w.write(&b, x, whole)
	}
	return b.String(), folded
}

// Late gives the text of an answer that came after its request was done.
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

// Event gives the text of something that nobody asked for; "" for what a
// person does not need to see, such as that a rank runs.
func (w *Writer) Event(e session.Event) string {
	var b strings.Builder
	if e.Group.Kind.IsOutput() {
		w.output(&b, e.Group)
		return b.String()
	}
	if x, ok := w.eventAnswer(e.Group); ok {
		w.write(&b, x, w.All)
	}
	return b.String()
}

// parts makes the lines of one group of answers.
func (w *Writer) parts(a Asked, g protocol.Group) (parts []answer, folded bool) {
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

// decode reads a body. A body that is not what it should be is shown as it is:
// the person must not lose an answer because of our mistake.
func decode(body []byte, into any) bool {
	return json.Unmarshal(body, into) == nil
}

// raw is the answer for a body that could not be read.
func raw(g protocol.Group) answer {
	return answer{ranks: g.Ranks, lines: strings.Split(string(bytes.TrimRight(g.Body, "\n")), "\n")}
}
