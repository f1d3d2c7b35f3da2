// Parsing of a line.

package language

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"sdm/protocol"
)

// Parse parses one line. ok is false for a line without a command: empty, or a comment. The error
// is a *Mistake.
func Parse(line string) (c Command, ok bool, err error) {
	line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), blanks)
	if strings.Trim(line, blanks) == "" || line[0] == '#' {
		return Command{}, false, nil
	}
	if m := checkBytes(line); m != nil {
		return Command{}, false, m
	}
	if m := parse(&c, line); m != nil {
		return Command{}, false, m
	}
	return c, true, nil
}

// blanks separate words.
const blanks = " \t"

// checkBytes refuses characters that would not be transmitted unchanged.
func checkBytes(line string) *Mistake {
	if !utf8.ValidString(line) {
		return &Mistake{"the line is not UTF-8", "send other bytes to the ranks with --stdin-file"}
	}
	for _, r := range line {
		if r < ' ' && r != '\t' || r == 0x7f {
			return &Mistake{"the line contains the control character " + strconv.QuoteRune(r), "take it out"}
		}
	}
	return nil
}

func parse(c *Command, line string) *Mistake {
	rest, m := parsePrefixes(c, line)
	if m != nil {
		return m
	}
	text, args := cutWord(rest)
	if text == "" {
		return noWord(c, rest)
	}
	w, m := lookup(text)
	if m != nil {
		return m
	}
	if strings.HasPrefix(rest[len(text):], "/") && !strings.Contains(w.Usage, "[/") {
		return &Mistake{w.Name + " takes no /format", usage(w)}
	}
	w, args = second(w, args)
	if m := fill(c, w, args); m != nil || w.Name != "with" {
		return m
	}
	line, c.Text = c.Text, ""
	return parse(c, strings.TrimLeft(line, blanks))
}

// fill sets the fields of c for the word w with its arguments.
func fill(c *Command, w *Word, rest string) *Mistake {
	c.Name, c.Do, c.Repeat = w.Name, w.do, w.repeat
	c.Rest = rest
	if w.Name != "send" { // trailing blanks may be meant for the program
		c.Rest = strings.TrimRight(rest, blanks)
	}
	takeBackground(c)
	read := w.parse
	if read == nil {
		read = parseNothing
	}
	if m := read(c); m != nil {
		if m.Hint == "" {
			m.Hint = usage(w)
		}
		return m
	}
	if c.Name == "thread apply" {
		if m := applyInner(c); m != nil {
			return m
		}
	}
	if m := takeThread(c); m != nil {
		return m
	}
	return refuseSet(c)
}

// refuseSet refuses a rank set before a command that addresses no ranks.
func refuseSet(c *Command) *Mistake {
	if c.Set == "" {
		return nil
	}
	if info, ok := protocol.LookupCommand(c.Do); c.Name == Focus || c.Name == Wait || ok && !info.NoRanks {
		return nil
	}
	return &Mistake{c.Name + " is not sent to ranks: it takes no set", ""}
}

// noWord returns the error for a line without a word.
func noWord(c *Command, rest string) *Mistake {
	if c.Set != "" && strings.Trim(rest, blanks) == "" {
		return &Mistake{"no command after [" + c.Set + "]", "to send the next commands there: focus " + c.Set}
	}
	if rest == "" {
		return &Mistake{"no command after wait=", "for the commands that follow: set wait DURATION"}
	}
	if rest[0] == '!' {
		return fill(c, mustLookup(Shell), strings.TrimLeft(rest[1:], blanks))
	}
	return &Mistake{"a command begins with a letter, not with " + quote(firstRune(rest)), "help lists the commands"}
}

func mustLookup(name string) *Word {
	w, m := lookup(name)
	if m != nil {
		panic("command: no row for " + name)
	}
	return w
}

func firstRune(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return s[:n]
}

// takeBackground cuts the & off a command that resumes ranks. For other commands a final & belongs
// to the argument.
func takeBackground(c *Command) {
	if info, ok := protocol.LookupCommand(c.Do); !ok || !info.Resumes {
		return
	}
	if text, ok := strings.CutSuffix(c.Rest, "&"); ok {
		c.Background = true
		c.Rest = strings.TrimRight(text, blanks)
	}
}

// cutWord cuts off a word as GDB does: "p*x" is "p" and "*x".
func cutWord(s string) (word, rest string) {
	i := 0
	for i < len(s) && isWordByte(s[i]) {
		i++
	}
	return s[:i], strings.TrimLeft(s[i:], blanks)
}

func isWordByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '-'
}

// cutBlank cuts off the text before the first blank.
func cutBlank(s string) (text, rest string) {
	i := strings.IndexAny(s, blanks)
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], blanks)
}

func usage(w *Word) string {
	if w.Usage == "" {
		return "usage: " + w.Name
	}
	return "usage: " + w.Name + " " + w.Usage
}
