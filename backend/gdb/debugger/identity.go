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
func (m *Machine) identify(args []string) {
	if m.identified || !mentionsIdentity(args) {
		return
	}
	m.identified = true
	m.tellIdentity("rank", int(m.Target.Rank))
	if m.Target.Size > 0 {
		m.tellIdentity("size", m.Target.Size)
	}
}

func (m *Machine) tellIdentity(name string, value int) {
	line := fmt.Sprintf("init-if-undefined $%s = %d", name, value)
	k := &call{task: "set", sent: m.now, by: m}
	m.GDB.Bytes = mi.AppendCommand(m.GDB.Bytes, m.GDB.Calls.add(k), console, m.own([]string{line})...)
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
