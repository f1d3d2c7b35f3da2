package protocol

import "strings"

// frontEndWords are commands of front ends that gdb does not have, or that need
// many ranks.
var frontEndWords = map[string]bool{"stacks": true, "stat": true, "diff": true, "ranks": true, "usage": true, "log": true, "barrier": true, "memory": true}

// FrontEndLine returns the index of the first line of a breakpoint's commands that
// the front end executes instead of gdb: a command that gdb does not have, or one
// with a rank set in front ("[0-3] print x"). The front end also executes all lines
// after it, so that they stay in order. len(lines) means none.
func FrontEndLine(lines []string) int {
	for i, line := range lines {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if frontEndWords[word] || strings.HasPrefix(word, "[") {
			return i
		}
	}
	return len(lines)
}
