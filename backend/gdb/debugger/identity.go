// The convenience variables $rank and $size.

package debugger

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
)

// identify sets $rank and $size before the first command that uses them. Values that
// the user has set before stay.
func (se *settings) identify(args []string) {
	if se.identified || !mentionsIdentity(args) {
		return
	}
	se.identified = true
	se.tellIdentity("rank", int(se.Target.Rank))
	if se.Target.Size > 0 {
		se.tellIdentity("size", se.Target.Size)
	}
}

func (se *settings) tellIdentity(name string, value int) {
	line := fmt.Sprintf("init-if-undefined $%s = %d", name, value)
	k := &call{task: "set", sent: se.now, by: se.Machine}
	se.GDB.Bytes = mi.AppendCommand(se.GDB.Bytes, se.GDB.Calls.add(k), console, se.moves.own([]string{line})...)
}

// mentionsIdentity reports whether words for gdb contain one of these names.
func mentionsIdentity(words []string) bool {
	for _, w := range words {
		for {
			i := strings.IndexByte(w, '$')
			if i < 0 {
				break
			}
			w = w[i+1:]
			n := 0
			for n < len(w) && gdbtext.IsNameByte(w[n], n == 0) {
				n++
			}
			if w[:n] == "rank" || w[:n] == "size" {
				return true
			}
		}
	}
	return false
}
