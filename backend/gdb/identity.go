// $rank and $size: which rank it is, and how many there are.

package gdb

import (
	"fmt"
	"strings"

	"sdm/backend/mi"
)

// identify tells gdb who the rank is before the first command that mentions it. What a person has given these names
// before stays.
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

// mentionsIdentity tells whether one of these names stands in words for gdb.
func mentionsIdentity(words []string) bool {
	for _, w := range words {
		for {
			i := strings.IndexByte(w, '$')
			if i < 0 {
				break
			}
			w = w[i+1:]
			n := 0
			for n < len(w) && isNameByte(w[n], n == 0) {
				n++
			}
			if w[:n] == "rank" || w[:n] == "size" {
				return true
			}
		}
	}
	return false
}
