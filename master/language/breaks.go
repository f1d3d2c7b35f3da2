// Parsers of the arguments of words about breakpoints.

package language

import (
	"strconv"
	"strings"

	"sdm/protocol"
)

// These parsers read the arguments of words about breakpoints of all kinds.

func parseHbreak(c *Command) *Mistake {
	c.Args.Hardware = true
	return parseBreak(c)
}

func parseThbreak(c *Command) *Mistake {
	c.Args.Hardware = true
	return parseTbreak(c)
}

// accesses are the values of protocol.Args.Access by word.
var accesses = map[string]string{"watch": "", "rwatch": "read", "awatch": "access"}

func parseWatch(c *Command) *Mistake {
	expr, condition, found := cutIf(c.Rest)
	switch {
	case expr == "":
		return &Mistake{Text: c.Name + ": which expression?"}
	case found && condition == "":
		return &Mistake{Text: c.Name + ": no condition after if"}
	}
	c.Args.Expr, c.Args.Condition, c.Args.Access = expr, condition, accesses[c.Name]
	return nil
}

func parseCatch(c *Command) *Mistake {
	event, condition, found := cutIf(c.Rest)
	switch {
	case event == "":
		return &Mistake{Text: c.Name + ": which event?"}
	case found && condition == "":
		return &Mistake{Text: c.Name + ": no condition after if"}
	}
	c.Args.Event, c.Args.Condition = event, condition
	c.Args.Temporary = c.Name == "tcatch"
	return nil
}

// cutNumber cuts the number of a breakpoint off the arguments.
func cutNumber(c *Command) (rest string, m *Mistake) {
	text, rest := cutBlank(c.Rest)
	if text == "" {
		return "", &Mistake{Text: c.Name + ": which breakpoint?"}
	}
	n, m := breakpointNumber(c, text)
	c.Args.Breakpoints = []int{n}
	return rest, m
}

func parseCondition(c *Command) *Mistake {
	condition, m := cutNumber(c)
	c.Args.Condition = condition
	return m
}

func parseIgnore(c *Command) *Mistake {
	rest, m := cutNumber(c)
	if m != nil {
		return m
	}
	if rest == "" {
		return &Mistake{Text: "ignore: how many times?"}
	}
	c.Args.Count, m = number(c, rest, 0)
	return m
}

func parseCommands(c *Command) *Mistake {
	if c.Rest != lastMade && strings.Trim(c.Rest, "0123456789-, \t") != "" {
		return &Mistake{Text: "commands: the commands stand on the lines that follow, then end"}
	}
	return parseListed(c)
}

// parseListed reads numbers and ranges of breakpoints.
func parseListed(c *Command) *Mistake { return numbers(c, c.Rest, &c.Args.Breakpoints) }

// parseLog reads "LOCATION [if CONDITION], EXPR, EXPR...".
func parseLog(c *Command) *Mistake {
	parts := cutCommas(c.Rest)
	if len(parts) < 2 {
		return &Mistake{Text: "log: a location and expressions are needed", Hint: "log work.c:31, n, sum"}
	}
	for _, e := range parts[1:] {
		if e == "" {
			return &Mistake{Text: "log: an expression is missing between commas"}
		}
	}
	c.Args.Exprs = parts[1:]
	location, condition, found := cutIf(parts[0])
	if found && condition == "" {
		return &Mistake{Text: "log: no condition after if"}
	}
	c.Args.Location, c.Args.Condition = location, condition
	return checkLocation(c, location)
}

// parseAssert reads "EXPR [--at LOCATION [--stop]]".
func parseAssert(c *Command) *Mistake {
	expr, place, found := cutOption(c.Rest, "--at")
	if found {
		place, c.Args.Stop = strings.CutSuffix(place+" ", " --stop ")
		if place = strings.Trim(place, blanks); place == "" {
			return &Mistake{Text: "assert: at which location?", Hint: "assert n > 0 --at work.c:31"}
		}
		c.Do, c.Args.Location = "assert at", place
	}
	c.Args.Expr = expr
	switch {
	case expr == "":
		return &Mistake{Text: "assert: which condition?", Hint: "assert n > 0"}
	case !isBalanced(expr):
		return &Mistake{Text: "assert: the parentheses of " + quote(expr) + " do not match"}
	}
	return checkLocation(c, place)
}

// cutOption cuts a text before and after an option, which is a word of its own.
func cutOption(s, option string) (before, after string, found bool) {
	i := strings.Index(" "+s+" ", " "+option+" ")
	if i < 0 {
		return s, "", false
	}
	return strings.Trim(s[:max(i-1, 0)], blanks), strings.Trim(s[min(i+len(option), len(s)):], blanks), true
}

// isBalanced reports whether each parenthesis of an expression has its other half.
func isBalanced(expr string) bool {
	depth := 0
	for _, b := range protocol.Unquoted(expr) {
		switch b {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}

// maxExprs bounds the number of expressions of one log.
const maxExprs = 50

// cutCommas splits a text at the commas outside brackets and quotes.
func cutCommas(s string) []string { return cutOutside(s, s, "([{", ")]}") }

// cutOutside splits s at the commas of like, a text of the same length, that are outside quotes and
// brackets.
func cutOutside(s, like, opening, closing string) []string {
	var parts []string
	depth, begin := 0, 0
	for i, b := range protocol.Unquoted(like) {
		switch {
		case strings.IndexByte(opening, b) >= 0:
			depth++
		case strings.IndexByte(closing, b) >= 0:
			depth--
		case b == ',' && depth <= 0 && len(parts) < maxExprs:
			parts = append(parts, strings.Trim(s[begin:i], blanks))
			begin = i + 1
		}
	}
	return append(parts, strings.Trim(s[begin:], blanks))
}

func parseBarrier(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: "barrier: at which location?"}
	}
	return parseBreak(c)
}

// Pending is GDB's setting for breakpoints whose location no program or library contains yet.
type Pending int

const (
	PendingAuto Pending = iota // the user is asked; in scripts it is made pending
	PendingOn                  // it is made pending
	PendingOff                 // it is an error
)

// String returns GDB's word.
func (p Pending) String() string { return [...]string{"auto", "on", "off"}[p] }

// parseShowBreakpoint reads "pending" for the console; other settings are passed to gdb.
func parseShowBreakpoint(c *Command) *Mistake {
	if c.Rest != "pending" {
		c.Do, c.Name = "gdb", "show breakpoint"
		return passArgs(c)
	}
	return nil
}

// parseSetBreakpoint reads "pending on|off|auto" for the console; other settings are passed to gdb.
func parseSetBreakpoint(c *Command) *Mistake {
	rest, ok := strings.CutPrefix(c.Rest, "pending")
	if !ok || !(rest == "" || startsBlank(rest)) {
		c.Do = "gdb"
		return passArgs(c)
	}
	var m *Mistake
	c.Pending, m = parsePending(strings.Trim(rest, blanks))
	return m
}

func parsePending(word string) (Pending, *Mistake) {
	switch word {
	case "on", "1":
		return PendingOn, nil
	case "off", "0":
		return PendingOff, nil
	case "auto", "-1", "":
		return PendingAuto, nil
	}
	return PendingAuto, &Mistake{Text: "breakpoint pending: on, off or auto, not " + strconv.Quote(word)}
}

// parseWith reads "breakpoint pending on|off|auto -- COMMAND", as GDB 18 saves breakpoints; the
// command is left in Text.
func parseWith(c *Command) *Mistake {
	setting, line, ok := strings.Cut(c.Rest, " -- ")
	words := strings.Fields(setting)
	if !ok || len(words) != 3 || words[0] != "breakpoint" || words[1] != "pending" {
		return &Mistake{Text: "with: only breakpoint pending is set for one command", Hint: "set another setting before the command, and back after it"}
	}
	pending, m := parsePending(words[2])
	c.With, c.Text = &pending, line
	return m
}

// parseClear reads "[LOCATION]".
func parseClear(c *Command) *Mistake {
	if strings.Trim(c.Rest, "0123456789"+blanks) == "" && strings.ContainsAny(c.Rest, blanks) {
		return &Mistake{Text: "clear: one location is enough", Hint: "by number: delete " + c.Rest}
	}
	return parseLocation(c)
}

// parseExprOf reads a regular expression.
func parseExprOf(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: c.Name + ": which regular expression?"}
	}
	c.Args.Expr = c.Rest
	return nil
}

// parseSave reads "breakpoints FILE"; GDB can save other things too.
func parseSave(c *Command) *Mistake {
	what, file := cutBlank(c.Rest)
	switch {
	case len(what) > 0 && strings.HasPrefix("values", what):
		return parseSaveValues(c, file)
	case what == "" || !strings.HasPrefix("breakpoints", what):
		return &Mistake{Text: "save: breakpoints and values can be saved, not " + quote(what)}
	case file == "":
		return &Mistake{Text: "save breakpoints: into which file?"}
	}
	c.File = file
	return nil
}
