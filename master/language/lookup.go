// Lookup of words.

package language

import (
	"slices"
	"strings"
)

// writtenPairs are the first words with a second word, and the least number of letters of that.
// Shorter ones are passed to gdb, which may know them ("info l" is not "info locals").
var writtenPairs = map[string]map[string]int{
	"info": {"breakpoints": 1, "watchpoints": 3, "locals": 2, "args": 2, "threads": 2, "stack": 3, "hosts": 3, "ranks": 2,
		"registers": 1, "signals": 3, "sharedlibrary": 2, "display": 2, "assert": 2},
	"thread": {"apply": 3, "name": 2, "find": 3},
	"set":    {"variable": 3, "wait": 2, "echo": 4, "breakpoint": 2, "listsize": 5, "height": 2, "width": 2, "pagination": 2, "confirm": 4},
	"show":   {"listsize": 5, "breakpoint": 2, "height": 2, "width": 2, "pagination": 2, "confirm": 4},
}

// Lookup returns a word by its name, an abbreviation, or an unambiguous prefix. The error is a
// *Mistake.
func Lookup(text string) (Word, error) {
	w, m := lookup(text)
	if m != nil {
		return Word{}, m
	}
	return *w, nil
}

func lookup(text string) (*Word, *Mistake) {
	if w := passedWord(text); w != nil {
		return w, nil
	}
	var found []*Word
	for i := range words {
		w := &words[i]
		if w.Name == text || slices.Contains(w.Short, text) {
			return w, nil
		}
		if strings.HasPrefix(w.Name, text) && !strings.Contains(w.Name, " ") {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, unknown(text)
	}
	names := make([]string, len(found))
	for i, w := range found {
		names[i] = w.Name
	}
	slices.Sort(names)
	return nil, &Mistake{Text: quote(text) + " may be " + orList(names), Hint: "type more of it"}
}

// second joins the first word of rest to w: "info" and "b 1" become "info breakpoints" and "1".
func second(w *Word, rest string) (*Word, string) {
	subs, ok := pairs[w.Name]
	if !ok {
		return w, rest
	}
	text, after := cutWord(rest)
	if w.Name == "info" && text == "s" { // in GDB, info s is info stack
		text = "stack"
	}
	for name, least := range subs {
		if len(text) >= least && strings.HasPrefix(name, text) {
			full, _ := lookup(w.Name + " " + name)
			return full, after
		}
	}
	return w, rest
}

// helpLists is the hint for an unknown word without a similar one.
const helpLists = "help lists the commands"

func unknown(text string) *Mistake {
	m := &Mistake{Text: "unknown command " + quote(text)}
	if hint := unavailable[text]; hint != "" {
		m.Hint = hint
	} else if near := nearest(text); near != "" {
		m.Hint = "did you mean \"" + near + "\"?"
	} else {
		m.Hint = helpLists
	}
	return m
}

// nearest returns the most similar word, by letters; "" if none is similar.
func nearest(text string) string {
	best, at := "", 3
	if len(text) < 4 {
		at = 2
	}
	for _, w := range words {
		if strings.Contains(w.Name, " ") {
			continue
		}
		if d := distance(text, w.Name); d < at && d < len(w.Name) {
			best, at = w.Name, d
		}
	}
	return best
}

// distance returns the number of bytes to insert, delete, change or swap with a neighbour between a
// and b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 32 { // no word is so long; bounds the work for a pasted line
		return len(a)
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// Words returns the table of words.
func Words() []Word { return slices.Clone(words) }

// Command returns the command of the session for the word; "" if the console executes it itself.
func (w Word) Command() string { return w.do }

// Derived reports whether the word follows from the row of its command in protocol.Commands.
func (w Word) Derived() bool { return w.derived }
