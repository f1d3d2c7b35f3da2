// The commands that show what a stopped rank holds.

package values

import "sdm/backend/gdb/request"

// Row tells how one command is executed.
type Row struct {
	Do   func(*Values, *request.Request) // nil: the command is not in this table
	Last bool                            // its expression may refer to the value that the rank has printed last
}

// RowOf finds a command.
func RowOf(name string) Row {
	switch name {
	case "print":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.evaluate(q) }}
	case "members":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.members(q) }, Last: true}
	case "values":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.takeValues(q) }}
	case "hash":
		return Row{Do: func(v *Values, q *request.Request) { v.hasher.hashArray(q) }}
	case "backtrace":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.backtrace(q) }}
	case "stacks":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.stacks(q) }}
	case "frame", "up", "down":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.chooseFrame(q) }}
	case "info locals":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.infoLocals(q) }}
	case "info args":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.infoArgs(q) }}
	case "info threads":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.infoThreads(q) }}
	case "list":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.listSource(q) }}
	case "lines":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.linesOfCode(q) }}
	case "set variable":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.assign(q) }, Last: true}
	case "call":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.callFunction(q) }, Last: true}
	case "ptype", "whatis":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.describe(q) }, Last: true}
	case "display":
		return Row{Do: func(v *Values, q *request.Request) { v.Displays.display(q) }}
	case "assert":
		return Row{Do: func(v *Values, q *request.Request) { v.Displays.display(q) }}
	case "undisplay":
		return Row{Do: func(v *Values, q *request.Request) { v.Displays.undisplay(q) }}
	case "info display":
		return Row{Do: func(v *Values, q *request.Request) { v.Displays.infoDisplay(q) }}
	case "x":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.examine(q) }, Last: true}
	case "info registers":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.infoRegisters(q) }}
	case "disassemble":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.disassemble(q) }}
	case "thread":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.chooseThread(q) }}
	case "dump memory":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.dumpMemory(q) }}
	case "memory read":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.readMemory(q) }}
	case "memory write":
		return Row{Do: func(v *Values, q *request.Request) { v.Printer.writeMemory(q) }}
	case "info sharedlibrary":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.infoLibraries(q) }}
	case "sharedlibrary":
		return Row{Do: func(v *Values, q *request.Request) { v.Frames.loadLibraries(q) }}
	}
	return Row{}
}
