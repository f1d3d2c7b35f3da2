// Lines of gdb's command line: which resume, are refused, or are executed in another way.

package gdbtext

import (
	"sdm/protocol/pattern"
	"slices"
	"strings"
)

// resuming are gdb's commands that resume a target, with gdb's abbreviations. Without &
// gdb reads no command until the target stops (GDB manual, Background Execution).
var resuming = []string{
	"continue", "c", "fg", "next", "n", "nexti", "ni", "step", "s", "stepi", "si", "finish", "fin",
	"until", "u", "advance", "adv", "jump", "j", "signal", "reverse-continue", "rc", "reverse-next", "rn", "reverse-step", "rs",
	"reverse-finish", "reverse-nexti", "rni", "reverse-stepi", "rsi",
}

// refusedLines would end gdb or detach the target, or would read sdm's next commands as
// their own further lines.
var refusedLines = map[string]string{
	"run": launchHint, "r": launchHint, "start": launchHint, "starti": launchHint, "-exec-run": launchHint,
	"attach": attachHint, "-target-attach": attachHint, "target": attachHint, "inferior": attachHint,
	"quit": quitHint, "q": quitHint, "exit": quitHint, "-gdb-exit": quitHint,
	"commands": "mi -break-commands NUMBER \"LINE\"... takes all lines at once",
	"define":   linesHint, "document": linesHint, "while": linesHint, "if": linesHint, "actions": linesHint,
	"edit": linesHint, "pi": linesHint, "python-interactive": linesHint, "guile-repl": linesHint, "gr": linesHint,
}

const (
	launchHint = "launch starts the ranks"
	attachHint = "attach takes control of processes; a gdb here debugs one of them"
	quitHint   = "quit ends the session, kill and detach a rank"
	linesHint  = "it reads further lines: put them into a file, and `source FILE`"
)

// needWords are commands that are passed on only with arguments: alone they would read
// sdm's next commands.
var needWords = []string{"python", "py", "guile", "gu", "shell", "!", "compile", "expression"}

// ownLines are gdb commands for which sdm has its own.
var ownLines = map[string]string{
	"kill": "kill", "k": "kill", "detach": "detach", "det": "detach", "-target-detach": "detach",
	"interrupt": "interrupt", "-exec-interrupt": "interrupt",
}

// Resumes reports whether a command of gdb resumes a target.
func Resumes(word string) bool { return slices.Contains(resuming, word) }

// RefusedLine returns why a line is not handed to gdb; false: it may be.
func RefusedLine(line string) (why string, refused bool) {
	word, rest, _ := strings.Cut(line, " ")
	if strings.TrimSpace(rest) == "" && slices.Contains(needWords, word) {
		return linesHint, true
	}
	why, refused = refusedLines[word]
	return why, refused
}

// CommandFor returns sdm's command for a command of gdb; "": gdb executes it.
func CommandFor(word string) string { return ownLines[word] }

// sharedLines are gdb commands that would change or stop the other ranks of a shared
// gdb: the rank gets a gdb of its own for them.
var sharedLines = []string{
	"break", "b", "br", "tbreak", "tb", "hbreak", "hb", "thbreak", "thb", "watch", "rwatch", "awatch", "catch", "tcatch",
	"condition", "ignore", "delete", "d", "clear", "cl", "disable", "dis", "enable", "en", "dprintf", "save",
	"-break-insert", "-break-watch", "-break-delete", "-break-enable", "-break-disable", "-break-condition", "-break-after", "-break-commands",
	"-dprintf-insert", "-catch-load", "-catch-unload", "-catch-throw", "-catch-catch", "-catch-rethrow",
	"handle", "add-inferior", "remove-inferiors", "clone-inferior", "-add-inferior", "-remove-inferior", "record", "rec",
}

// frameFunction matches "frame function", at which a shared gdb 13.1 resumes the ranks.
var frameFunction = pattern.New(`^f(rame|ram|ra|r)?\s+fun`)

// ConcernsAllRanks reports whether a line would change or stop all ranks of a shared gdb.
func ConcernsAllRanks(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return slices.Contains(sharedLines, word) || frameFunction.MatchString(line)
}

// WithoutInput keeps a shell command from reading the commands for gdb.
func WithoutInput(line string) string {
	for _, shell := range []string{"shell ", "!"} {
		if rest, ok := strings.CutPrefix(line, shell); ok {
			return "shell exec </dev/null; " + rest
		}
	}
	return line
}
