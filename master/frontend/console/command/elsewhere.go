package command

// elsewhere tells of GDB's words that are none of ours what to type instead.
var elsewhere = func() map[string]string {
	const (
		chosen  = "what is debugged is chosen at the start: sdm run PROGRAM, sdm attach PID, sdm core PROGRAM CORE..."
		scripts = "gdb source FILE reads a script of gdb's; files of -x and source hold lines as they are typed here"
		screen  = "there is no full screen here: list, disassemble and info registers show its parts"
		record  = "sdm run --reverse records from the start"
		ranks   = "focus SET, or [SET] before a command, chooses ranks"
	)
	m := map[string]string{
		"dprintf": "log LOCATION, EXPR... prints values without a stop",
		"record":  record, "target": chosen, "file": chosen, "exec-file": chosen, "core-file": chosen, "attach": chosen,
		"define": scripts, "document": scripts, "if": scripts, "while": scripts,
		"layout": screen, "tui": screen, "refresh": screen,
		"inferior": ranks, "add-inferior": ranks, "clone-inferior": ranks,
	}
	for _, w := range []string{
		"cd", "directory", "find", "forward-search", "gcore", "generate-core-file", "macro", "pwd", "python",
		"return", "reverse-search", "search", "skip", "symbol-file", "unset",
	} {
		m[w] = "gdb " + w + ", with what belongs to it, hands it to gdb"
	}
	return m
}()
