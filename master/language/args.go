// Parsers of arguments.

package language

import (
	"math"
	"strconv"
	"strings"

	"sdm/protocol"
)

// These are the argument parsers of words.go. Each reads c.Rest; a Mistake without a hint gets the
// usage of the word.

func parseNothing(c *Command) *Mistake {
	if c.Rest != "" {
		return &Mistake{Text: c.Name + " takes no argument, not " + quote(c.Rest)}
	}
	return nil
}

func parseText(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: c.Name + " needs an argument"}
	}
	c.Text = c.Rest
	return nil
}

func parseCount(c *Command) *Mistake {
	if c.Rest == "" {
		return nil
	}
	n, m := number(c, c.Rest, 1)
	c.Args.Count = n
	return m
}

// number reads an integer of at least least that fits any counter of gdb.
func number(c *Command, text string, least int) (int, *Mistake) {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || int(n) < least {
		return 0, &Mistake{Text: c.Name + ": " + quote(text) + " is not a number from " + strconv.Itoa(least)}
	}
	return int(n), nil
}

func parseFrame(c *Command) *Mistake {
	if c.Rest == "" {
		return nil
	}
	text := c.Rest
	switch word, rest := cutBlank(text); {
	case word == "level":
		text = rest
	case word == "function" && rest != "":
		c.Args.Name = rest
		return nil
	case word == "address" && rest != "":
		c.Args.From = rest
		return nil
	case word == "function" || word == "address":
		return &Mistake{Text: "frame: which " + word + "?"}
	case word == "apply":
		c.Do = "gdb"
		return passArgs(c)
	}
	n, m := number(c, text, 0)
	if m == nil {
		c.Args.Frame = &n
	}
	return m
}

// maxNumbers bounds how many breakpoints one line may name, so that "1-99999999" does not take much
// memory.
const maxNumbers = 1000

// parseNumbers reads "1 3-5, 8", after an optional "breakpoints" as in GDB.
func parseNumbers(c *Command) *Mistake {
	rest := c.Rest
	if word, after := cutWord(rest); word != "" && strings.HasPrefix("breakpoints", word) {
		rest = after
	} else if word != "" && c.Name == "delete" && (strings.HasPrefix("display", word) || strings.HasPrefix("assert", word)) {
		c.Do = "undisplay"
		return numbers(c, after, &c.Args.Displays)
	}
	if c.Name == "enable" {
		var m *Mistake
		if rest, m = cutThen(c, rest); m != nil {
			return m
		}
	}
	for _, text := range listed(rest) {
		into := &c.Args.Breakpoints
		whole, place, placed := strings.Cut(text, ".")
		if !placed {
			if m := numbers(c, text, into); m != nil {
				return m
			}
			continue
		}
		if m := parsePlaces(c, whole, place); m != nil {
			return m
		}
	}
	return nil
}

// cutThen cuts "once", "delete" or "count N" off the arguments of enable.
func cutThen(c *Command, rest string) (string, *Mistake) {
	word, after := cutWord(rest)
	switch {
	case word == "" || word[0] <= '9':
		return rest, nil
	case strings.HasPrefix("once", word):
		c.Args.Then = "disable"
	case strings.HasPrefix("delete", word):
		c.Args.Then = "delete"
	case strings.HasPrefix("count", word):
		var text string
		text, after = cutBlank(after)
		n, m := number(c, text, 1)
		if m != nil {
			return "", m
		}
		c.Args.Then, c.Args.Count = "disable", n
	default:
		return rest, nil
	}
	if after == "" {
		return "", &Mistake{Text: c.Name + " " + word + ": which breakpoints?"}
	}
	return after, nil
}

// parsePlaces reads the two parts of "1.2" or "1.2-4".
func parsePlaces(c *Command, whole, place string) *Mistake {
	if c.Name == "delete" || c.Args.Then != "" {
		return &Mistake{Text: c.Name + ": " + quote(whole+"."+place) + " is a place of a breakpoint", Hint: "places can be enabled and disabled: disable " + whole + "." + place}
	}
	of, m := breakpointNumber(c, whole)
	if m != nil {
		return m
	}
	var list []int
	if m := numbers(c, place, &list); m != nil {
		return m
	}
	if list == nil {
		return &Mistake{Text: c.Name + ": which place of breakpoint " + whole + "?", Hint: c.Name + " " + whole + ".1"}
	}
	for _, n := range list {
		c.Args.Places = append(c.Args.Places, protocol.Site{Breakpoint: of, Number: n})
	}
	return nil
}

// listed splits a list at blanks and commas.
func listed(rest string) []string {
	return strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
}

// lastMade is GDB's variable for the number of the last breakpoint, which is 0 in calls of the
// session.
const lastMade = "$bpnum"

// breakpointNumber reads the number of a breakpoint.
func breakpointNumber(c *Command, text string) (int, *Mistake) {
	if text == lastMade {
		return 0, nil
	}
	return number(c, text, 1)
}

// numbers reads a list of numbers and ranges.
func numbers(c *Command, rest string, into *[]int) *Mistake {
	for _, text := range listed(rest) {
		if text == lastMade && into == &c.Args.Breakpoints {
			*into = append(*into, 0)
			continue
		}
		a, b, ranged := strings.Cut(text, "-")
		first, m := number(c, a, 1)
		if m != nil {
			return m
		}
		last := first
		if ranged {
			if last, m = number(c, b, first); m != nil {
				return m
			}
		}
		if last-first >= maxNumbers-len(*into) {
			return &Mistake{Text: c.Name + ": more than " + strconv.Itoa(maxNumbers) + " numbers", Hint: c.Name + " alone means all"}
		}
		for n := first; n <= last; n++ {
			*into = append(*into, n)
		}
	}
	return nil
}

func parseBacktrace(c *Command) *Mistake {
	for _, word := range strings.Fields(c.Rest) {
		if word == "full" || word == "-full" {
			c.Args.Full = true
			continue
		}
		if c.Args.Count != 0 {
			return &Mistake{Text: c.Name + ": one number is enough"}
		}
		if strings.HasPrefix(word, "-") && strings.Trim(word[1:], "0123456789") != "" {
			return &Mistake{Text: c.Name + ": the option " + word + " is not available", Hint: "all options of gdb's: gdb backtrace " + c.Rest}
		}
		outer, inner := strings.CutPrefix(word, "-")
		n, m := number(c, outer, 1)
		if m != nil {
			return m
		}
		if c.Args.Count = n; inner {
			c.Args.Count = -n
		}
	}
	return nil
}

func parsePrint(c *Command) *Mistake {
	var m *Mistake
	c.Args.Format, c.Args.Expr, m = cutFormat(c, cutAll(c))
	return m
}

// evaluated reads "[/FORMAT] EXPR".
func evaluated(c *Command, rest string) *Mistake {
	format, expr, m := cutFormat(c, rest)
	if m != nil {
		return m
	}
	if expr == "" {
		return &Mistake{Text: c.Name + ": which expression?"}
	}
	c.Args.Format, c.Args.Expr = format, expr
	return nil
}

// cutAll cuts --all off the arguments. Other words that begin so are expressions of C:
// --all_of_them.
func cutAll(c *Command) string {
	if rest, ok := strings.CutPrefix(c.Rest, "--all"); ok && startsBlank(rest) {
		c.Args.Limit = -1
		return strings.TrimLeft(rest, blanks)
	}
	return c.Rest
}

// parseDifference reads "[--all] [--tolerance NUMBER] EXPR".
func parseDifference(c *Command) *Mistake {
	rest := cutAll(c)
	if after, ok := strings.CutPrefix(rest, "--file"); ok && startsBlank(after) {
		c.Do = "values"
		c.Text, rest = cutBlank(strings.TrimLeft(after, blanks))
	}
	if after, ok := strings.CutPrefix(rest, "--tolerance"); ok && startsBlank(after) {
		word, expr := cutBlank(strings.TrimLeft(after, blanks))
		t, err := strconv.ParseFloat(word, 64)
		if err != nil || !(t > 0 && t < math.Inf(1)) {
			return &Mistake{Text: c.Name + ": " + quote(word) + " is not a tolerance", Hint: "diff --tolerance 1e-9 x"}
		}
		c.Args.Tolerance, rest = t, expr
	}
	if c.Do == "values" {
		return parseDiffFile(c, rest)
	}
	if c.Args.Expr = rest; rest == "" {
		return &Mistake{Text: c.Name + ": which expression?"}
	}
	return nil
}

// parseValues reads an expression whose values are compared.
func parseValues(c *Command) *Mistake {
	if c.Args.Expr = cutAll(c); c.Args.Expr == "" {
		return &Mistake{Text: c.Name + ": which expression?"}
	}
	return nil
}

// membersShown is how many members are shown at a time: a screen of them.
const membersShown = 24

func parseMembers(c *Command) *Mistake {
	c.Args.Count = membersShown
	return parseValues(c)
}

// cutFormat cuts "/FORMAT" off the arguments.
func cutFormat(c *Command, rest string) (format, after string, m *Mistake) {
	if !strings.HasPrefix(rest, "/") {
		return "", rest, nil
	}
	format, after = cutBlank(rest[1:])
	for i := range len(format) {
		if b := format[i]; !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '-' && i == 0) {
			return "", "", &Mistake{Text: c.Name + ": " + quote("/"+format) + " is not a format", Hint: c.Name + "/x, for example"}
		}
	}
	if format == "" {
		return "", "", &Mistake{Text: c.Name + ": which format?", Hint: c.Name + "/x, for example"}
	}
	return format, after, nil
}

// passArgs passes the line to gdb, with the full name of the word.
func passArgs(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: c.Name + " needs an argument"}
	}
	c.Args.Text = c.Name + " " + c.Rest
	return nil
}

// passWord is passArgs for info, whose help is gdb's own.
func passWord(c *Command) *Mistake {
	for word, least := range sharedViews { // the answer is about all ranks of a gdb
		if first, _ := cutWord(c.Rest); len(first) >= least && strings.HasPrefix(word, first) {
			return &Mistake{Text: "info " + word + ": ranks may share a gdb, and this would be about the gdb", Hint: "ranks lists processes and states, backtrace 1 and info breakpoints tell where and why a rank has stopped"}
		}
	}
	if c.Rest == "" {
		return &Mistake{Text: "info: about what?", Hint: "info breakpoints, locals, args, threads, stack, or what gdb knows: \"gdb help info\""}
	}
	return passArgs(c)
}

// sharedViews are arguments of info that are about a gdb and not about a rank, with the number of
// letters that gdb requires of each.
var sharedViews = map[string]int{"inferiors": 3}

// passFormat is passArgs for words that a format may follow.
func passFormat(c *Command) *Mistake {
	c.Args.Text = strings.TrimSpace(c.Name + " " + c.Rest)
	if strings.HasPrefix(c.Rest, "/") {
		c.Args.Text = c.Name + c.Rest
	}
	if c.Rest == "" && c.Name == "output" {
		return &Mistake{Text: "output: which expression?"}
	}
	return nil
}

func parseGDB(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: "gdb: which command?"}
	}
	c.Args.Text = c.Rest
	return nil
}

func parseMI(c *Command) *Mistake {
	if !strings.HasPrefix(c.Rest, "-") || len(c.Rest) < 2 {
		return &Mistake{Text: "mi: a GDB/MI command begins with -", Hint: "mi -stack-info-depth"}
	}
	c.Args.Text = c.Rest
	return nil
}

func startsBlank(s string) bool { return s != "" && strings.IndexByte(blanks, s[0]) >= 0 }
