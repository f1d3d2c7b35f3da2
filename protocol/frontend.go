package protocol

import "strings"

// frontEndWords are words of front ends that gdb does not have, or that ask many ranks.
var frontEndWords = map[string]bool{"stacks": true, "stat": true, "diff": true, "ranks": true, "usage": true, "log": true, "barrier": true, "memory": true}

// FrontEndLine gives the index of the first of the lines of a breakpoint that a
// front end carries out and not gdb: of a word that gdb does not have, or with a
// set of ranks in front ("[0-3] print x"). It carries out those behind it, too, so
// that they keep their order. len(lines) is none.
func FrontEndLine(lines []string) int {
	for i, line := range lines {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if frontEndWords[word] || strings.HasPrefix(word, "[") {
			return i
		}
	}
	return len(lines)
}
