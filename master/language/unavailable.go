// Words of GDB that are not available, or that are sent to gdb unchanged.

package language

import "slices"

// unavailable maps GDB's words that are not available to a hint what to type instead.
var unavailable = func() map[string]string {
	const (
		chosen  = "the program is chosen at the start of sdm: sdm run PROGRAM, sdm attach PID, sdm core PROGRAM CORE..."
		scripts = "gdb source FILE reads a gdb script; files of -x and source have lines as they are typed here"
		screen  = "there is no full-screen mode: list, disassemble and info registers show its parts"
		record  = "sdm run --reverse records from the start"
		ranks   = "focus SET, or [SET] before a command, chooses ranks"
		traces  = "log LOCATION, EXPR... prints values without a stop"
	)
	return map[string]string{
		"dprintf": traces, "trace": traces, "tstart": traces, "strace": traces, "collect": traces,
		"record": record, "checkpoint": record, "restart": record,
		"target": chosen, "file": chosen, "exec-file": chosen, "core-file": chosen, "attach": chosen,
		"define": scripts, "document": scripts, "if": scripts, "while": scripts, "alias": scripts,
		"layout": screen, "tui": screen, "refresh": screen, "focus-window": screen,
		"inferior": ranks, "add-inferior": ranks, "clone-inferior": ranks,
		"make": "shell make", "tty": "sdm run --tty gives each rank a terminal of its own",
		"unset":   "the environment of the ranks is set at the start: sdm run --env NAME=VALUE, --env-unset NAME",
		"explore": "print, ptype and whatis show the parts of a value",
	}
}()

// passed are GDB's words that are passed to gdb unchanged, in alphabetical order.
var passed = []string{
	"add-symbol-file", "apropos", "cd", "complete", "faas", "find", "forward-search", "gcore",
	"generate-core-file", "macro", "nosharedlibrary", "pwd", "py", "python", "return", "reverse-search",
	"search", "select-frame", "skip", "symbol-file", "taas", "tfaas",
}

// passedWord returns the row of such a word; nil if text is none.
func passedWord(text string) *Word {
	if _, found := slices.BinarySearch(passed, text); !found {
		return nil
	}
	return &Word{
		Name: text, Usage: "[ARG...]", Help: "sent to the gdb of each rank; gdb help " + text + " shows the help of gdb; a FILE that is written is FILE.RANK, or has the rank for %r",
		do: "gdb", parse: passPlain,
	}
}

func passPlain(c *Command) *Mistake {
	c.Args.Text = c.Name
	if c.Rest != "" {
		c.Args.Text += " " + c.Rest
	}
	return nil
}

// atStart are settings of gdb that have no effect, because sdm starts the ranks.
var atStart = map[string]string{
	"args":         "run ARG... starts the ranks again with other arguments",
	"environment":  "set it at the start: sdm run --env NAME=VALUE",
	"cwd":          "set it at the start: sdm run --cwd DIR",
	"inferior-tty": "sdm run --tty gives each rank a terminal of its own",
}

func parseSet(c *Command) *Mistake {
	if word, _ := cutWord(c.Rest); atStart[word] != "" {
		return &Mistake{Text: "set " + word + ": sdm has started the ranks, not gdb", Hint: atStart[word]}
	}
	return passArgs(c)
}

func parseShow(c *Command) *Mistake {
	if word, _ := cutWord(c.Rest); atStart[word] != "" && word != "environment" {
		return &Mistake{Text: "show " + word + ": sdm has started the ranks, not gdb", Hint: "info proc shows how a rank was started"}
	}
	return passArgs(c)
}
