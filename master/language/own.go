// Parsers of the arguments of words that the console or the master executes.

package language

import (
	"strings"
)

// These parsers read the arguments of words that the console or the master executes.

func parseFocus(c *Command) *Mistake {
	if c.Set != "" && c.Rest != "" {
		return &Mistake{Text: "focus: the set follows the word", Hint: "focus " + c.Rest}
	}
	c.Args.Set = c.Rest
	if c.Rest == "" {
		c.Args.Set = c.Set
	}
	if c.Args.Set != "" {
		c.Do = "focus"
	}
	return nil
}

func parseGroup(c *Command) *Mistake {
	name, set, ok := strings.Cut(c.Rest, "=")
	name, set = strings.Trim(name, blanks), strings.Trim(set, blanks)
	name = strings.TrimPrefix(name, "@")
	switch {
	case !ok || name == "" || set == "":
		return &Mistake{Text: "group: a name and a set are needed", Hint: "group odd = 1-63:2"}
	case !isName(name):
		return &Mistake{Text: "group: " + quote(name) + " is not a name", Hint: "letters, digits and _, a letter first"}
	}
	c.Args.Name, c.Args.Set = name, set
	return nil
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isWordByte(s[i]) || s[i] == '-' || i == 0 && !(s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z') {
			return false
		}
	}
	return s != ""
}

// parseWait reads "[any] [SET] [for DURATION]".
func parseWait(c *Command) *Mistake {
	set := c.Rest
	if rest, ok := strings.CutPrefix(set+" ", "any "); ok {
		c.Any, set = true, strings.Trim(rest, blanks)
	}
	if set == "for" {
		return &Mistake{Text: "wait: for how long?"}
	}
	if i := strings.LastIndex(" "+set, " for "); i >= 0 {
		d, m := parseWaitTime(strings.Trim(set[i+len("for "):], blanks))
		if m != nil {
			return m
		}
		if d != NoLimit {
			c.For = d
		}
		set = strings.Trim(set[:max(0, i-1)], blanks)
	}
	if set == "" {
		set = c.Set
	} else if c.Set != "" {
		return &Mistake{Text: "wait: two sets, [" + c.Set + "] and " + set}
	}
	if c.Args.Set = set; set != "" {
		c.Do = "focus" // the master evaluates the set
	}
	return nil
}

func parseSetWait(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: "set wait: how long?"}
	}
	d, m := parseWaitTime(c.Rest)
	c.For = d
	return m
}

func parseSetEcho(c *Command) *Mistake {
	switch c.Rest {
	case "on":
		c.Number = 1
	case "off":
	default:
		return &Mistake{Text: "set echo: on or off?"}
	}
	return nil
}

// parseSwitch reads "on", "off" or nothing, which is on.
func parseSwitch(c *Command) *Mistake {
	if c.Rest == "" {
		c.Number = 1
		return nil
	}
	if parseSetEcho(c) != nil {
		return &Mistake{Text: c.Name + ": on or off?"}
	}
	return nil
}

// parseHeight reads a number of lines or characters; "unlimited", 0 and nothing are no limit.
func parseHeight(c *Command) *Mistake {
	var m *Mistake
	if c.Rest != "" && c.Rest != "unlimited" {
		c.Number, m = number(c, c.Rest, 0)
	}
	return m
}

func parseExpand(c *Command) *Mistake {
	c.Number = 1
	if c.Rest == "" {
		return nil
	}
	n, m := number(c, c.Rest, 1)
	c.Number = n
	return m
}

func parseQuit(c *Command) *Mistake {
	if c.Rest == "" {
		return nil
	}
	n, m := number(c, c.Rest, 0)
	if m == nil && n > 255 {
		m = &Mistake{Text: "quit: a status is at most 255"}
	}
	c.Number = n
	return m
}

func parseHelp(c *Command) *Mistake {
	c.Text = c.Rest
	return nil
}

// parseEcho replaces \n, \t and \\; a single \ at the end preserves the blanks before it, as in
// GDB.
func parseEcho(c *Command) *Mistake {
	c.Text = unescape(c.Rest)
	return nil
}

// parseSend reads "SET TEXT", or TEXT alone after a set at the begin of the line; the command is
// "[SET] send TEXT" in both cases.
func parseSend(c *Command) *Mistake {
	set, text := c.Set, c.Rest
	if set == "" {
		var m *Mistake
		if set, text, m = cutSendSet(c.Rest); m != nil {
			return m
		}
	}
	c.Set, c.Rest = set, text
	switch trimmed := strings.Trim(text, blanks); {
	case trimmed == "":
		return &Mistake{Text: "send: which text?"}
	case trimmed == "EOF":
		c.Args.EOF = true
	case len(trimmed) >= 2 && trimmed[0] == '"' && trimmed[len(trimmed)-1] == '"':
		c.Args.Data = []byte(unescape(trimmed[1 : len(trimmed)-1]))
	default:
		c.Args.Data = []byte(text + "\n")
	}
	return nil
}

// cutSendSet cuts off the set: up to the next blank, or in brackets.
func cutSendSet(s string) (set, text string, m *Mistake) {
	if strings.HasPrefix(s, "[") {
		return cutSet(s)
	}
	if set, text = cutBlank(s); set == "" {
		return "", "", &Mistake{Text: "send: to which ranks?"}
	}
	if whole, rest, m := cutSet("[" + set + "]"); m != nil || rest != "" || whole != set {
		return "", "", &Mistake{Text: "send: " + quote(set) + " is not a rank set", Hint: "send 0-3 TEXT; write a set with blanks in brackets"}
	}
	return set, text, nil
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			if s[i] != '\\' {
				b.WriteByte(s[i])
			}
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}
