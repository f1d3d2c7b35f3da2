// The convenience variables $rank and $size.

package gdb

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/mi"
)

// identify sets $rank and $size before the first command that uses them. Values that
// the user has set before stay.
func (m *machine) identify(args []string) {
	if m.identified || !mentionsIdentity(args) {
		return
	}
	m.identified = true
	m.tellIdentity("rank", int(m.target.Rank))
	if m.target.Size > 0 {
		m.tellIdentity("size", m.target.Size)
	}
}

func (m *machine) tellIdentity(name string, value int) {
	line := fmt.Sprintf("init-if-undefined $%s = %d", name, value)
	k := &call{task: "set", sent: m.now, by: m}
	m.gdb.bytes = mi.AppendCommand(m.gdb.bytes, m.gdb.calls.add(k), console, m.own([]string{line})...)
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
