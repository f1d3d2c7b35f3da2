// The text of help.

package language

import (
	"strings"
)

// topics are the headings of help, in order.
var topics = []struct {
	topic Topic
	title string
}{
	{Where, "Where commands go"},
	{Break, "Breakpoints"},
	{Run, "Running"},
	{Look, "Looking"},
	{Change, "Changing"},
	{Other, "Other"},
}

// HelpText returns the text of help: on all commands for "", otherwise on one. The error is a
// *Mistake.
func HelpText(about string) (string, error) {
	if strings.Trim(about, blanks) == "" {
		return overview(), nil
	}
	text, rest := cutWord(about)
	if text == "sets" && rest == "" {
		return aboutSets, nil
	}
	w, m := lookup(text)
	if m != nil {
		if m.Hint == helpLists {
			m.Hint += "; gdb help " + text + " asks gdb"
		}
		return "", m
	}
	if w, rest = second(w, rest); rest != "" && w.Name != "info" && w.Name != "set" {
		return "", &Mistake{"no help about " + quote(about), "help " + w.Name}
	}
	return helpOf(w), nil
}

// aboutSets is the text of "help sets".
const aboutSets = `A rank set names ranks: [SET] COMMAND, focus SET, group NAME = SET, wait SET, send SET TEXT.

  0-3,7        ranks; 0-62:2 with a step; $ is the last one
  all, *       all of them
  @NAME        a named group (group NAME = SET)
  @stopped     by state: @running, @exited, @signalled, @lost, ...
  @bp:3        stopped at breakpoint 3
  @host:LIST   on these hosts: @host:node[01-16,20]
  @fn:NAME     with the function on the stack of some thread
  @at:F.C:42   whose innermost frame with source is there
  @expr{x > 3} for which the expression is true

  A,B  both    A & B  in both    A ! B  in A and not in B    A ^ B  in one of them
  !A   all but these             (A)    parentheses

sdm asks the stopped ranks for @fn, @at and @expr just before it sends the command.
Ranks that it cannot ask are not members; a note names them if the set depends on them.
`

// overview lists the available words, one on each line.
func overview() string {
	width := 0
	for _, w := range words {
		width = max(width, len(short(w)))
	}
	var b strings.Builder
	b.WriteString("A rank set may precede any command: [0-3,7] print x. Without a set, a command is for\nthe focus, which the prompt shows. Unambiguous beginnings of words are enough.\n")
	for _, t := range topics {
		b.WriteString("\n" + t.title + "\n")
		for _, w := range words {
			if w.Topic != t.topic {
				continue
			}
			s := short(w)
			b.WriteString("  " + s + strings.Repeat(" ", width-len(s)) + "  " + w.Help + "\n")
		}
	}
	b.WriteString("\nhelp COMMAND shows more; help sets describes rank sets.\n")
	return b.String()
}

// short returns a word with its shortest abbreviation: "break (b)".
func short(w Word) string {
	if len(w.Short) > 0 {
		return w.Name + " (" + w.Short[0] + ")"
	}
	return w.Name
}

func helpOf(w *Word) string {
	var b strings.Builder
	if mayHaveSet(w) {
		b.WriteString("[SET] ")
	}
	b.WriteString(strings.TrimSpace(w.Name+" "+w.Usage) + "\n  " + w.Help + "\n")
	if len(w.Short) > 0 {
		b.WriteString("  also: " + strings.Join(w.Short, ", ") + "\n")
	}
	if w.More != "" {
		b.WriteString("  " + strings.ReplaceAll(w.More, "\n", "\n  ") + "\n")
	}
	return b.String()
}

// mayHaveSet reports whether a rank set can precede w. Words that take a set as their argument are
// excluded.
func mayHaveSet(w *Word) bool {
	if w.Name == Focus || w.Name == Wait || w.Name == "send" {
		return false
	}
	return refuseSet(&Command{Name: w.Name, Do: w.do, Set: "all"}) == nil
}
