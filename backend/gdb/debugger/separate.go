// State that gdb has once for all of its ranks, kept separate for each rank.

package debugger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// sharedLines are gdb commands that would change or stop the other ranks of a shared
// gdb: the rank gets a gdb of its own for them.
var sharedLines = []string{
	"break", "b", "br", "tbreak", "tb", "hbreak", "hb", "thbreak", "thb", "watch", "rwatch", "awatch", "catch", "tcatch",
	"condition", "ignore", "delete", "d", "clear", "cl", "disable", "dis", "enable", "en", "dprintf", "save",
	"-break-insert", "-break-watch", "-break-delete", "-break-enable", "-break-disable", "-break-condition", "-break-after", "-break-commands",
	"-dprintf-insert", "-catch-load", "-catch-unload", "-catch-throw", "-catch-catch", "-catch-rethrow",
	"handle", "add-inferior", "remove-inferiors", "clone-inferior", "-add-inferior", "-remove-inferior", "record", "rec",
}

// frameFunction matches "frame function", at which a shared gdb 13.1 resumes the ranks.
var frameFunction = pattern.New(`^f(rame|ram|ra|r)?\s+fun`)

// disturbs reports whether a line would change the other ranks of a shared gdb. Then the rank
// gets a gdb of its own, which executes the request.
func (mv *moves) disturbs(q *request.Request, line string) bool {
	if !mv.GDB.Shared() {
		return false
	}
	word, _, _ := strings.Cut(line, " ")
	if !slices.Contains(sharedLines, word) && !frameFunction.MatchString(line) && !(protocol.IsSetting(line) && mv.isForSome(q)) {
		return false
	}
	mv.useOwnGDB(q, strconv.Quote(line))
	return true
}

// isForSome reports whether a request is for some but not all of the remaining ranks of
// this gdb. A replayed request counts as given to the ranks that have the same in their
// journals.
func (mv *moves) isForSome(q *request.Request) bool {
	return slices.ContainsFunc(mv.GDB.Machines, func(o *Machine) bool {
		switch {
		case o.termination.finished() || o.moves.moving != nil:
			return false
		case q.Replayed:
			return !o.moves.wasGiven(q.Command)
		}
		return !mv.GDB.Asked.Contains(o.Target.Rank)
	})
}

// wasGiven reports whether the rank has executed a line for gdb, or is about to execute
// it again.
func (mv *moves) wasGiven(c *request.Command) bool {
	is := func(o protocol.Command) bool { return o.Name == c.Name && o.Args.Text == c.Args.Text }
	return slices.ContainsFunc(slices.Concat(mv.Target.Before, mv.journal, mv.recovery.repeats), is)
}

// own replaces convenience variables by those of this rank: $i becomes $i_of_rank_3.
// Names of registers, functions and gdb's own ($_exitcode) stay.
func (mv *moves) own(words []string) []string {
	for i, w := range words {
		if strings.Contains(w, "$") {
			words = append([]string{}, words...)
			words[i] = mv.ownVariables(w)
		}
	}
	return words
}

func (mv *moves) ownVariables(text string) string {
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
			b.WriteString(more + mv.VariableSuffix())
		}
		if mv.GDB.Shared() && mv.GDB.registers != nil && name != "" && name[0] != '_' && !mv.GDB.registers[name] && !strings.HasPrefix(strings.TrimLeft(text[n:], " "), "(") {
			b.WriteString(mv.VariableSuffix())
		}
		text = text[n:]
	}
}

// VariableSuffix returns the suffix of the names of convenience variables that only this rank uses.
func (m *Machine) VariableSuffix() string { return fmt.Sprintf("_of_rank_%d", m.Target.Rank) }

// askRegisters asks for the names of registers, once for each shared gdb.
func (mv *moves) askRegisters() {
	if !mv.GDB.Shared() || mv.GDB.registers != nil {
		return
	}
	mv.GDB.registers = map[string]bool{"pc": true, "sp": true, "fp": true, "ps": true}
	mv.ask(request.Internal("attach"), func(a request.Answer) {
		for _, f := range a.Results.Path("register-names").Fields {
			mv.GDB.registers[f.Value.Str] = true
		}
	}, "-data-list-register-names", mv.At(request.Internal(""))...)
}
