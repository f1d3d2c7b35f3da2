// What gdb has once for all of its ranks, kept apart.

package gdb

import (
	"fmt"
	"regexp"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// sharedLines are commands of gdb that would change or stop the other ranks of
// a shared gdb; what to do instead.
var sharedLines = map[string]string{
	"break": breakHint, "b": breakHint, "br": breakHint, "tbreak": breakHint, "tb": breakHint, "hbreak": breakHint, "hb": breakHint,
	"thbreak": breakHint, "thb": breakHint, "watch": breakHint, "rwatch": breakHint, "awatch": breakHint, "catch": breakHint, "tcatch": breakHint,
	"condition": breakHint, "ignore": breakHint, "delete": breakHint, "d": breakHint, "clear": breakHint, "cl": breakHint, "disable": breakHint,
	"dis": breakHint, "enable": breakHint, "en": breakHint,
	"-break-insert": breakHint, "-break-watch": breakHint, "-break-delete": breakHint, "-break-enable": breakHint,
	"-break-disable": breakHint, "-break-condition": breakHint, "-break-after": breakHint, "-break-commands": breakHint,
	"handle":       breakHint,
	"add-inferior": inferiorHint, "remove-inferiors": inferiorHint, "clone-inferior": inferiorHint,
	"-add-inferior": inferiorHint, "-remove-inferior": inferiorHint,
	"record": inferiorHint, "rec": inferiorHint,
}

const (
	breakHint    = "the command of this name, without gdb, is for these ranks alone; --ranks-per-gdb 1 gives each rank a gdb of its own"
	inferiorHint = "--ranks-per-gdb 1 gives each rank a gdb of its own"
)

var frameFunction = regexp.MustCompile(`^f(rame|ram|ra|r)?\s+fun`)

// sharedSettings are gdb's settings about how programs run. They are one for all
// ranks of a gdb, so all of them must ask for it.
var sharedSettings = []string{"follow-", "detach-on-fork", "schedule-multiple", "non-stop", "disable-randomization", "breakpoint "}

// disturbs answers a line that would change the other ranks of a shared gdb.
func (m *machine) disturbs(q *request, line string) bool {
	if !m.gdb.shared() {
		return false
	}
	word, rest, _ := strings.Cut(line, " ")
	if hint, ok := sharedLines[word]; ok {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: word + " is not handed to a gdb that several ranks share", Hint: hint})
		return true
	}
	if frameFunction.MatchString(line) { // gdb 13.1 lets the ranks run
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "frame function is not handed to a gdb that several ranks share", Hint: "frame function NAME, without gdb, does the same"})
		return true
	}
	concerns := false
	for _, s := range sharedSettings {
		concerns = concerns || word == "set" && strings.HasPrefix(strings.TrimSpace(rest), s)
	}
	return concerns && m.asksForOthers(q, line)
}

// asksForOthers refuses what is about all ranks of a shared gdb, when it is not
// asked of all that are left.
func (m *machine) asksForOthers(q *request, what string) bool {
	var all []rank.ID
	ask := false
	for _, o := range m.gdb.machines {
		if !o.finished() {
			all = append(all, o.target.Rank)
			ask = ask || !m.gdb.asked.Contains(o.target.Rank)
		}
	}
	if !ask {
		return false
	}
	m.fail(q, &protocol.Fault{
		Kind: protocol.FaultUsage, Message: fmt.Sprintf("%s would be for all ranks that share a gdb: %s", what, rank.Of(all...)),
		Hint: "ask it of all of them, or start with --ranks-per-gdb 1",
	})
	return true
}

// own gives words for gdb in which convenience variables are this rank's: $i is
// $i_of_rank_3. Names of registers, of gdb's own ($_exitcode) and of functions stay.
func (m *machine) own(words []string) []string {
	if !m.gdb.shared() || m.gdb.registers == nil {
		return words
	}
	for i, w := range words {
		if strings.Contains(w, "$") {
			words = append([]string{}, words...)
			words[i] = m.ownVariables(w)
		}
	}
	return words
}

func (m *machine) ownVariables(text string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		n := i + 1
		for n < len(text) && isNameByte(text[n], n == i+1) {
			n++
		}
		name := text[i+1 : n]
		b.WriteString(text[:n])
		if name != "" && name[0] != '_' && !m.gdb.registers[name] && !strings.HasPrefix(strings.TrimLeft(text[n:], " "), "(") {
			b.WriteString(m.variableSuffix())
		}
		text = text[n:]
	}
}

func isNameByte(c byte, first bool) bool {
	return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || !first && '0' <= c && c <= '9'
}

func (m *machine) variableSuffix() string { return fmt.Sprintf("_of_rank_%d", m.target.Rank) }

// askRegisters learns the names of registers, once for a gdb that is shared.
func (m *machine) askRegisters() {
	if !m.gdb.shared() || m.gdb.registers != nil {
		return
	}
	m.gdb.registers = map[string]bool{"pc": true, "sp": true, "fp": true, "ps": true}
	m.ask(ours("attach"), func(a answer) {
		for _, f := range a.Results.Path("register-names").Fields {
			m.gdb.registers[f.Value.Str] = true
		}
	}, "-data-list-register-names", m.at(ours(""))...)
}
