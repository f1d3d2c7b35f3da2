// Lines for gdb that change how gdb itself works.

package protocol

import (
	"regexp"
	"strings"
)

// IsSetting tells of a line that changes how gdb itself works, for as long as it lives.
func IsSetting(line string) bool {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case "set", "-gdb-set":
		return !assignment.MatchString(strings.TrimSpace(rest))
	case "unset", "directory", "dir", "skip", "add-symbol-file", "alias", "macro":
		return true
	}
	return false
}

// assignment is what behind set changes the program or a convenience variable, and no setting of gdb.
var assignment = regexp.MustCompile(`^(?:var(?:iable?|iab|ia|i)?\s|[$*({]|[\w.>\[\]-]+\s*(?:[-+*/%&|^]|<<|>>)?=)`)
