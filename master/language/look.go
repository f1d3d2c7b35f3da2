// Parsers of the arguments of words about types, memory, registers and signals.

package language

import "strings"

// These parsers read the arguments of words about types, memory, registers and signals.

func parseExpr(c *Command) *Mistake {
	if c.Rest == "" {
		return &Mistake{Text: c.Name + ": which expression?"}
	}
	c.Args.Expr = c.Rest
	return nil
}

func parseType(c *Command) *Mistake { return evaluated(c, c.Rest) }

// parseDisplay and parseExamine accept a missing expression: gdb then shows all displays, or
// continues.
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

// parsePlace is parseLocation for words that need a location.
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

// actions are the actions of handle, as in GDB.
var actions = []string{"stop", "nostop", "print", "noprint", "pass", "nopass", "ignore", "noignore"}

// parseHandle separates signals from actions.
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

// beginning returns the word of a list that equals text, or begins with text if that has at least
// three letters; "" if there is none.
func beginning(list []string, text string) string {
	for _, w := range list {
		if w == text || len(text) >= 3 && strings.HasPrefix(w, text) {
			return w
		}
	}
	return ""
}
