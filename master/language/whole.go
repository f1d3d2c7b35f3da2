// Parsers of words about values of files and distributed arrays.

package language

import (
	"strings"

	"sdm/master/valuefile"
	"sdm/master/whole"
)

// parseSaveValues reads "FILE EXPR [--by OFFSET], EXPR...", the arguments of save values.
func parseSaveValues(c *Command, rest string) *Mistake {
	file, exprs := cutBlank(rest)
	switch {
	case file == "":
		return &Mistake{Text: "save values: into which file?"}
	case exprs == "":
		return &Mistake{Text: "save values: which expressions?", Hint: "save values FILE n, u --by begin"}
	}
	c.Do, c.File = "values", file
	return takeWanted(c, "save values", exprs)
}

// parseDiffFile reads "[EXPR [--by OFFSET], EXPR...]", the end of the arguments of diff --file.
func parseDiffFile(c *Command, exprs string) *Mistake {
	switch {
	case c.Text == "":
		return &Mistake{Text: "diff --file: which file?"}
	case exprs == "":
		return nil
	}
	return takeWanted(c, "diff --file", exprs)
}

// takeWanted reads expressions with their offsets.
func takeWanted(c *Command, word, exprs string) *Mistake {
	for _, part := range cutCommas(exprs) {
		expr, by, found := cutOption(part, "--by")
		switch {
		case expr == "":
			return &Mistake{Text: word + ": an expression is missing between commas"}
		case strings.HasPrefix(expr, "--"):
			return &Mistake{Text: word + ": the option " + quote(expr) + " is not known"}
		case found && by == "":
			return &Mistake{Text: word + ": no offset after --by"}
		}
		c.Wanted = append(c.Wanted, valuefile.Wanted{Expr: expr, By: by})
	}
	var err error
	if c.Args.Exprs, err = valuefile.Exprs(c.Wanted); err != nil {
		return &Mistake{Text: word + ": " + err.Error()}
	}
	return nil
}

// parseWhole reads "EXPR --by OFFSET [--png FILE] [--width N]".
func parseWhole(c *Command) *Mistake {
	rest, options := c.Rest, map[string]string{}
	for _, option := range []string{"--png", "--width"} { // each may come before the other
		before, after, found := cutOption(rest, option)
		if !found {
			continue
		}
		value, more := cutBlank(after)
		if value == "" {
			return &Mistake{Text: "whole: nothing after " + option}
		}
		options[option], rest = value, strings.Trim(before+" "+more, blanks)
	}
	expr, by, _ := cutOption(rest, "--by")
	switch {
	case expr == "":
		return &Mistake{Text: "whole: which array?"}
	case by == "":
		return &Mistake{Text: "whole: where are the pieces?", Hint: "whole u --by begin, where begin is the place of the first element of each rank"}
	}
	if _, err := whole.ParseOffset(by); err != nil {
		return &Mistake{Text: "whole: " + err.Error()}
	}
	c.Whole.Image = options["--png"]
	if text := options["--width"]; text != "" {
		var m *Mistake
		if c.Whole.Width, m = number(c, text, 1); m != nil {
			return m
		}
	}
	c.Wanted = []valuefile.Wanted{{Expr: expr, By: by}}
	var err error
	if c.Args.Exprs, err = valuefile.Exprs(c.Wanted); err != nil {
		return &Mistake{Text: "whole: " + err.Error()}
	}
	return nil
}
