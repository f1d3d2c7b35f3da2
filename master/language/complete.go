// Completion of words.

package language

import (
	"slices"
	"strings"
)

// Complete returns the words that are possible at the end of line, complete and sorted, and the
// number of bytes of line that each of them replaces. groups are the names of rank sets, for @NAME.
func Complete(line string, groups []string) (candidates []string, replaces int) {
	start := WordStart(line)
	last := line[start:]
	if name, ok := strings.CutPrefix(last, "@"); ok {
		return prefixed(atNames(groups), "@"+name), len(last)
	}
	before := strings.Trim(afterPrefixes(line[:start]), blanks)
	if before == "" {
		return prefixed(names(""), last), len(last)
	}
	w, m := lookup(before)
	if m != nil {
		return nil, 0
	}
	switch {
	case w.Name == Help:
		return prefixed(names(""), last), len(last)
	case pairs[w.Name] != nil:
		return prefixed(names(w.Name+" "), last), len(last)
	case w.Name == Save:
		return prefixed([]string{"breakpoints"}, last), len(last)
	case w.Name == Waits:
		return prefixed([]string{"--dot", "--every", "--json", "--samples"}, last), len(last)
	case w.Name == "stacks":
		return prefixed([]string{"--dot", "--every", "--folded", "--json", "--samples", "address", "function", "line"}, last), len(last)
	}
	return nil, 0
}

// afterPrefixes cuts "[SET]" and "wait=..." off an incomplete line.
func afterPrefixes(line string) string {
	var c Command
	rest, m := parsePrefixes(&c, line)
	if m != nil {
		return line
	}
	return rest
}

// names returns the available words: for "" words of one part, otherwise words of two parts that
// begin with first.
func names(first string) []string {
	var found []string
	for _, w := range words {
		name, ok := strings.CutPrefix(w.Name, first)
		if ok && !strings.Contains(name, " ") {
			found = append(found, name)
		}
	}
	return found
}

// sets are the live rank sets, and the begins of those with an argument.
var sets = []string{"stopped", "running", "exited", "lost", "signalled", "bp:", "at:", "fn:", "host:", "expr{"}

func atNames(groups []string) []string {
	var all []string
	for _, g := range slices.Concat(sets, groups) {
		all = append(all, "@"+g)
	}
	return all
}

func prefixed(all []string, prefix string) []string {
	var found []string
	for _, s := range all {
		if strings.HasPrefix(s, prefix) {
			found = append(found, s)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
