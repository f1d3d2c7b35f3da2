// Commands that change settings of gdb.

package protocol

import (
	"strings"

	"sdm/protocol/pattern"
)

// IsSetting reports whether a line changes a setting of gdb, which lasts as long as
// that gdb.
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

// assignment matches the argument of a set command that changes the program or a
// convenience variable, and is not a setting of gdb.
var assignment = pattern.New(`^(?:var(?:iable?|iab|ia|i)?\s|[$*({]|[\w.>\[\]-]+\s*(?:[-+*/%&|^]|<<|>>)?=)`)
