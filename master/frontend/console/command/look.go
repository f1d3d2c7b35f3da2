package command

import "strings"

// The arguments of words that look at types, memory and registers, and of
// those about signals.

func parseExpr(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: c.Name + ": which expression?"}
	}
	c.Args.Expr = c.Rest
	return nil
}

func parseType(c *Command) *Mistake { return evaluated(c, c.Rest) }

// parseDisplay and parseExamine may have no expression: gdb then shows all, or
// goes on.
func parseDisplay(c *Command) *Mistake {
	format, expr, m := cutFormat(c, c.Rest)
	if m == nil && expr == "" && format != "" {
		m = &Mistake{Text: c.Name + ": which expression?"}
	}
	c.Args.Format, c.Args.Expr = format, expr
	return m
}

func parseExamine(c *Command) *Mistake {
	format, expr, m := cutFormat(c, c.Rest)
	c.Args.Format, c.Args.Expr = format, expr
	return m
}

func parseDisassemble(c *Command) *Mistake { return parseExamine(c) }

func parseUndisplay(c *Command) *Mistake { return numbers(c, c.Rest, &c.Args.Displays) }

func parseLibraries(c *Command) *Mistake {
	c.Args.Expr = c.Rest
	return nil
}

func parseRegisters(c *Command) *Mistake {
	c.Args.Expr = c.Rest
	return nil
}

// parsePlace is parseLocation for words that go nowhere without one.
func parsePlace(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: c.Name + ": to which location?"}
	}
	return parseLocation(c)
}

func parseSignal(c *Command) *Mistake {
	if c.Rest == "" || strings.ContainsAny(c.Rest, blanks) {
		return &Mistake{Text: "signal: one signal is needed"}
	}
	c.Args.Signal = c.Rest
	return nil
}

func parseInfoSignals(c *Command) *Mistake {
	if strings.ContainsAny(c.Rest, blanks) {
		return &Mistake{Text: "info signals: one signal at most"}
	}
	c.Args.Signal = c.Rest
	return nil
}

// actions are what handle may say, as GDB's.
var actions = []string{"stop", "nostop", "print", "noprint", "pass", "nopass", "ignore", "noignore"}

// parseHandle parts signals from actions.
func parseHandle(c *Command) *Mistake {
	var signals []string
	for _, word := range strings.Fields(c.Rest) {
		switch action := beginning(actions, word); {
		case action != "":
			c.Args.Actions = append(c.Args.Actions, action)
		default:
			signals = append(signals, word)
		}
	}
	if c.Args.Signal = strings.Join(signals, " "); len(signals) == 0 {
		return &Mistake{Text: "handle: which signals?"}
	}
	return nil
}

// beginning gives the word of a list that a text is, or begins with three
// letters at least, "" for none.
func beginning(list []string, text string) string {
	for _, w := range list {
		if w == text || len(text) >= 3 && strings.HasPrefix(w, text) {
			return w
		}
	}
	return ""
}
