// Convenience variables: $rank and $size, and those that each rank of a shared gdb has for itself.

package debugger

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// identify sets $rank and $size before the first command that uses them. Values that
// the user has set before stay.
func (c *core) identify(args []string) {
	if c.named || !mentionsIdentity(args) {
		return
	}
	c.named = true
	c.tellIdentity("rank", int(c.Target.Rank))
	if c.Target.Size > 0 {
		c.tellIdentity("size", c.Target.Size)
	}
}

func (c *core) tellIdentity(name string, value int) {
	line := fmt.Sprintf("init-if-undefined $%s = %d", name, value)
	k := &call{task: "set", sent: c.now, by: c}
	c.GDB.Bytes = mi.AppendCommand(c.GDB.Bytes, c.GDB.Calls.add(k), console, c.own([]string{line})...)
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

// own replaces convenience variables by this rank's: $i becomes $i_of_rank_3. Names of registers,
// functions and gdb's own ($_exitcode) stay.
func (c *core) own(words []string) []string {
	for i, w := range words {
		if strings.Contains(w, "$") {
			words = append([]string{}, words...)
			words[i] = c.ownVariables(w)
		}
	}
	return words
}

func (c *core) ownVariables(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		n := i + 1
		for n < len(text) && gdbtext.IsNameByte(text[n], n == i+1) {
			n++
		}
		name := text[i+1 : n]
		b.WriteString(text[:n])
		if more := values.LastShown[name]; more != "" {
			b.WriteString(more + c.VariableSuffix())
		}
		own := name != "" && name[0] != '_' && !c.GDB.registers[name] // no register and none of gdb's
		if own && c.GDB.Shared() && c.GDB.registers != nil && !strings.HasPrefix(strings.TrimLeft(text[n:], " "), "(") {
			b.WriteString(c.VariableSuffix())
		}
		text = text[n:]
	}
}

// VariableSuffix returns the suffix of the names of convenience variables that only this rank uses.
func (c *core) VariableSuffix() string { return fmt.Sprintf("_of_rank_%d", c.Target.Rank) }
