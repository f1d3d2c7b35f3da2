// The variables of a frame: those that GDB/MI lists, and those that it omits.

package values

import (
	"slices"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
)

// GDB/MI lists no variable without a location: one that is optimized out or has become
// a constant (list_args_or_locals, mi-cmd-stack.c). The command line does. So the
// command line gives the names in their order, with structures and arrays cut to one
// line each, and GDB/MI the values.
const (
	localsLine = "with print max-depth 0 -- info locals"
	argsLine   = "with print max-depth 0 -- info args"
)

// askVariables asks for the variables of a frame: command is the GDB/MI command, path leads to its
// list, and line is the command for gdb's command line.
func (fr *Frames) askVariables(q *request.Request, at []string, line string, then func(a request.Answer, list mi.Tuple),
	path []string, command string, args ...string) {
	text := ""
	k := fr.Ask(q, func(a request.Answer) { text = a.Text }, "-interpreter-exec", append(slices.Clip(at), "console", line)...)
	k.Print, k.SeparateWarnings = true, true
	k = fr.Ask(q, func(a request.Answer) {
		then(a, gdbtext.WithOmitted(gdbtext.WithoutEntryValues(a.Results.Path(path...).Fields), text))
	}, command, append(slices.Clip(at), args...)...)
	k.Print, k.SeparateWarnings = true, true
}
