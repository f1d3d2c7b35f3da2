// Commands of breakpoints that the front end executes.

package protocol

import "strings"

// frontEndWords are the words of the commands that GDB does not have.
var frontEndWords = func() map[string]bool {
	words := map[string]bool{"whole": true} // of the console: its command of the session is values
	for _, c := range Commands {
		if word, _, _ := strings.Cut(c.Name, " "); c.Ours {
			words[word] = true
		}
	}
	return words
}()

// FrontEndLine returns the index of the first line of a breakpoint's commands that
// the front end executes instead of gdb: a command that gdb does not have (save values), or one
// with a rank set in front ("[0-3] print x"). The front end also executes all lines
// after it, so that they stay in order. len(lines) means none.
func FrontEndLine(lines []string) int {
	for i, line := range lines {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if frontEndWords[word] || strings.HasPrefix(word, "[") || word == "save" && strings.HasPrefix(strings.TrimSpace(rest), "v") {
			return i
		}
	}
	return len(lines)
}
