// Parsers of locations.

package language

import (
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

func parseBreak(c *Command) *Mistake {
	location, condition, found := cutIf(c.Rest)
	if found && condition == "" {
		return &Mistake{Text: c.Name + ": no condition after if"}
	}
	if m := checkLocation(c, location); m != nil {
		return m
	}
	c.Args.Location, c.Args.Condition = location, condition
	return nil
}

func parseTbreak(c *Command) *Mistake {
	c.Args.Temporary = true
	return parseBreak(c)
}

func parseLocation(c *Command) *Mistake {
	c.Args.Location = c.Rest
	return checkLocation(c, c.Rest)
}

// checkLocation refuses options and additions of GDB's locations that are not supported.
func checkLocation(c *Command, location string) *Mistake {
	fields := strings.Fields(location)
	for i, word := range fields {
		if i == 0 && len(fields) > 1 && strings.HasPrefix(word, "-") {
			return &Mistake{Text: c.Name + ": the option " + word + " is not available", Hint: "FILE:LINE, FUNCTION, LINE or *ADDRESS"}
		}
		if i > 0 && (word == "thread" || word == "task" || word == "inferior") && i+1 < len(fields) {
			return &Mistake{Text: c.Name + ": \"" + word + "\" after a location is not available", Hint: "to choose ranks: [SET] " + c.Name + " " + fields[0]}
		}
	}
	return nil
}

// cutIf splits "LOCATION if CONDITION" at the first separate "if" outside quotes, parentheses and
// angle brackets (as in GDB, "if(" counts too).
func cutIf(s string) (location, condition string, found bool) {
	depth, within := 0, byte(0)
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case within != 0:
			if b == within {
				within = 0
			}
		case b == '"' || b == '\'':
			within = b
		case b == '(' || b == '<':
			depth++
		case b == ')' || b == '>':
			depth--
		case depth <= 0 && isIf(s, i):
			return strings.Trim(s[:i], blanks), strings.Trim(s[i+2:], blanks), true
		}
	}
	return s, "", false
}

func isIf(s string, i int) bool {
	if !strings.HasPrefix(s[i:], "if") || i > 0 && strings.IndexByte(blanks, s[i-1]) < 0 {
		return false
	}
	rest := s[i+2:]
	return rest == "" || rest[0] == '(' || startsBlank(rest)
}

// parseList reads the arguments of GDB's list: "", "-", "FIRST,LAST", "FIRST,", ",LAST", a
// location, "FILE:FIRST,LAST".
func parseList(c *Command) *Mistake {
	switch c.Rest {
	case "":
		c.Page = 1
		return nil
	case "-":
		c.Page = -1
		return nil
	}
	ends := cutEnds(c.Rest)
	if len(ends) == 1 {
		return parseLocation(c)
	}
	first, last := ends[0], ends[1]
	switch {
	case len(ends) > 2 || first == "" && last == "":
		return &Mistake{Text: "list: " + quote(c.Rest) + " is not a range of lines"}
	case first == "":
		first = "-" // ten lines up to the last
	case last == "":
		last = "+"
	}
	if a, m := number(c, first, 1); m == nil {
		if b, m := number(c, last, 1); m == nil && b < a {
			return &Mistake{Text: "list: line " + last + " is before line " + first}
		}
	}
	c.Args.Location, c.Args.To = first, last
	return checkLocation(c, first)
}

// cutEnds splits a range of lines. Commas within template arguments do not count: "A<int,
// long>::f,30".
func cutEnds(s string) []string {
	like := angled.ReplaceAllStringFunc(s, func(name string) string { return strings.Repeat("_", len(name)) })
	return cutOutside(s, like, "([{<", ")]}>")
}

// angled are operators of C++ whose names contain angle brackets.
var angled = pattern.New(`operator\s*(?:<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>)`)

// maxListed bounds the number of lines that list shows.
const maxListed = 10_000

func parseListsize(c *Command) *Mistake {
	n, m := number(c, c.Rest, 1)
	if m == nil && n > maxListed {
		m = &Mistake{Text: "set listsize: " + strconv.Itoa(maxListed) + " lines at most"}
	}
	c.Number = n
	return m
}

func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
