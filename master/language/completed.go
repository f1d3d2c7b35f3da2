// Lines that gdb completes.

package language

import (
	"cmp"
	"strings"

	"sdm/protocol"
)

// GDBLine converts an incomplete line to one that gdb can complete, without the syntax of sdm. It
// returns false if gdb cannot complete it.
func GDBLine(line string) (string, bool) {
	rest := strings.TrimLeft(afterPrefixes(line), blanks)
	text, args := cutWord(rest)
	if text == "" || len(text) == len(rest) {
		return "", false // the word itself is completed by Complete
	}
	w, m := lookup(text)
	if m != nil {
		return "", false
	}
	tail := rest[len(text):]
	if whole, after := second(w, args); whole != w && (after != "" || strings.HasSuffix(rest, " ")) {
		w, tail = whole, " "+after
	}
	if info, _ := protocol.LookupCommand(w.do); w.do == "" || info.Place == protocol.AtMaster {
		return "", false
	}
	switch w.like {
	case nothing:
		return "", false
	case anyOfGDB:
		return strings.TrimLeft(tail, blanks), args != ""
	}
	return cmp.Or(w.like, w.Name) + strings.TrimPrefix(tail, " --all"), true
}

// WordStart returns the index of the last, incomplete word of a line.
func WordStart(line string) int { return strings.LastIndexAny(line, wordBreaks) + 1 }

// wordBreaks separate the words of Complete.
const wordBreaks = " \t[,&!^("
