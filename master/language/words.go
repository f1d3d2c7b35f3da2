// The table of words.

package language

// Topic groups words for help.
type Topic string

// These are the topics, in the order of help.
const (
	Where  Topic = "where"
	Break  Topic = "break"
	Run    Topic = "run"
	Look   Topic = "look"
	Change Topic = "change"
	Other  Topic = "other"
)

// Word is one row of the table of console commands.
type Word struct {
	Name  string
	Short []string // other names, and abbreviations that would be ambiguous otherwise, as in GDB
	Topic Topic
	Usage string // its arguments
	Help  string // one line
	More  string // further lines for "help WORD"

	do     string // command of the session; "" if the console executes it
	repeat bool   // an empty line repeats it
	like   string // GDB completes its arguments as for this word; "" is the word itself
	parse  parser // parser of the arguments; nil: there are none

	derived bool // it follows from the row of its command
}

// These are special values of Word.like.
const (
	nothing  = "-" // GDB has nothing like it
	anyOfGDB = "*" // a whole line of GDB follows
)

// parser sets the fields of a command from its Rest.
type parser func(c *Command) *Mistake

// written are the words with arguments of their own; it is not modified. A name of two words ("info
// locals") needs no row for its first word.
var written = []Word{
	{Name: "focus", Topic: Where, Usage: "[SET]", Help: "send the next commands to these ranks; without SET, show them", parse: parseFocus,
		More: "The set is evaluated once: \"focus @stopped\" means the ranks that are stopped now."},
	{Name: "group", Topic: Where, like: nothing, Usage: "NAME = SET", Help: "name a rank set; @NAME stands for it", do: "group", parse: parseGroup},
	{Name: "groups", Topic: Where, Help: "show the named rank sets", do: "groups"},
	{Name: "ranks", Topic: Where, like: nothing, Help: "show the state of the ranks; at the prompt memory and CPU time, too (usage)", do: "ranks", repeat: true},
	{Name: "info ranks", Topic: Where, like: nothing, Help: "the same as ranks", do: "ranks", repeat: true},
	{Name: "usage", Topic: Where, like: nothing, Help: "show memory and CPU time of the ranks", do: "usage", repeat: true},
	{Name: "info hosts", Topic: Where, like: nothing, Help: "show the hosts, their servers, gdbs and ranks", do: "info hosts", repeat: true},

	{Name: "break", Short: []string{"b", "br", "bre", "brea"}, Topic: Break, Usage: "[LOCATION] [if CONDITION]", Help: "set a breakpoint", do: "break", parse: parseBreak},
	{Name: "tbreak", Short: []string{"tb", "tbr"}, Topic: Break, Usage: "[LOCATION] [if CONDITION]", Help: "set a breakpoint that is deleted when it is reached, on each rank", do: "break", parse: parseTbreak},
	{Name: "hbreak", Short: []string{"hb"}, Topic: Break, Usage: "[LOCATION] [if CONDITION]", Help: "set a hardware breakpoint, of which a processor has few", do: "break", parse: parseHbreak},
	{Name: "thbreak", Short: []string{"thb"}, Topic: Break, Usage: "[LOCATION] [if CONDITION]", Help: "set a hardware breakpoint that is deleted when it is reached, on each rank", do: "break", parse: parseThbreak},
	{Name: "watch", Topic: Break, Usage: "[-l] EXPR [if CONDITION]", Help: "stop when the value of an expression changes", do: "watch", parse: parseWatch,
		More: "With -l gdb watches the memory that EXPR names now, also after the end of its frame."},
	{Name: "rwatch", Topic: Break, Usage: "[-l] EXPR [if CONDITION]", Help: "stop when the value of an expression is read", do: "watch", parse: parseWatch},
	{Name: "awatch", Topic: Break, Usage: "[-l] EXPR [if CONDITION]", Help: "stop when the value of an expression is read or changes", do: "watch", parse: parseWatch},
	{Name: "catch", Topic: Break, Usage: "EVENT [if CONDITION]", Help: "stop at an event: throw, catch, rethrow, exec, fork, vfork, load, unload, syscall [NAME], signal [NAME]", do: "catch", parse: parseCatch,
		More: "After a fork gdb follows the parent, or with \"set follow-fork-mode child\" the child. After an exec the locations of breakpoints\nare searched again in the new program. With gdb 13, catch vfork gives a rank a gdb in all-stop mode: there an interrupt is a SIGINT,\nwhich does not stop a rank that blocks it."},
	{Name: "tcatch", Topic: Break, Usage: "EVENT [if CONDITION]", Help: "stop at an event once, on each rank", do: "catch", parse: parseCatch},
	{Name: "condition", Topic: Break, Usage: "N [CONDITION]", Help: "change the condition of a breakpoint; without one, it always stops", do: "condition", parse: parseCondition},
	{Name: "ignore", Topic: Break, Usage: "N COUNT", Help: "pass a breakpoint for the next COUNT times, on each rank", do: "ignore", parse: parseIgnore},
	{Name: "commands", Topic: Break, like: nothing, Usage: "[N...]", Help: "set the commands of breakpoints (of the last one)", do: "commands", parse: parseCommands,
		More: "The following lines, up to the line end, are executed when a breakpoint is reached. They are lines for gdb: print n, info locals,\nset var n = 0. If the first is silent, the location is not shown; if the last is continue, the rank continues.\nA command of sdm (stacks, stat n, [0] print n) and the lines after it are executed for all ranks that have stopped there."},
	{Name: "enable", Short: []string{"en", "ena"}, Topic: Break, Usage: "[once|delete|count TIMES] [N...]", Help: "enable breakpoints (all, if none is named)", do: "enable", parse: parseNumbers,
		More: "N.K is location K of a breakpoint with several locations (info breakpoints lists them): enable 1.2.\nonce: each rank disables it when it is reached; count TIMES: when it has been reached as many times; delete: each rank\ndeletes it when it is reached."},
	{Name: "disable", Short: []string{"dis", "disa"}, Topic: Break, Usage: "[N...]", Help: "disable breakpoints (all, if none is named)", do: "disable", parse: parseNumbers,
		More: "N.K is location K of a breakpoint with several locations (info breakpoints lists them): disable 1.2-3."},
	{Name: "delete", Short: []string{"d", "de", "del"}, Topic: Break, Usage: "[N...]", Help: "delete breakpoints (all, if none is named)", do: "delete", parse: parseNumbers},
	{Name: "clear", Short: []string{"cl"}, Topic: Break, Usage: "[LOCATION]", Help: "delete the breakpoints at a location (that of the selected frame)", do: "clear", parse: parseClear},
	{Name: "rbreak", Short: []string{"rb"}, Topic: Break, Usage: "[FILE:]REGEX", Help: "set a breakpoint at each function whose name matches a regular expression", do: "rbreak", parse: parseExprOf,
		More: "Functions with debug information; if none matches, functions without: rbreak ^MPI_Send. 200 at most. Each breakpoint has\nits own number, the same on all ranks."},
	{Name: "info breakpoints", Topic: Break, Usage: "[N...]", Help: "list breakpoints", do: "info breakpoints", repeat: true, parse: parseListed},
	{Name: "info watchpoints", Topic: Break, Usage: "[N...]", Help: "list watchpoints", do: "info watchpoints", repeat: true, parse: parseListed},
	{Name: Save, Topic: Break, like: nothing, Usage: "breakpoints FILE | values FILE EXPR[, EXPR...]", Help: "write all breakpoints of the ranks to a local file that source and -x read, or values to one that diff --file reads", do: "info breakpoints", parse: parseSave,
		More: "save values writes expressions of the ranks with their types. The first one of a session makes the file new, later ones add\na snapshot. EXPR --by OFFSET is a piece of a distributed array (help whole), which can be compared at another number of\nranks. Of large arrays each 2nd, 4th, ... element is taken, and a hash of all.\nWith their conditions, ignore counts and commands. Logs, and what is not equal on all ranks, are at the end of the file; gdb\ncan read the part before it. In such files $bpnum is the breakpoint that was set last: condition $bpnum n > 1."},
	{Name: "log", Topic: Break, like: "break", Usage: "LOCATION [if CONDITION], EXPR...", Help: "print the values of expressions at a location without stopping", do: "log", parse: parseLog,
		More: "A step that reaches a log ends there."},

	{Name: "assert", Topic: Break, like: "print", Usage: "EXPR [--at LOCATION [--stop]]", Help: "tell at each stop, or whenever a rank comes to a location, on which ranks a condition is false", do: "assert", parse: parseAssert,
		More: "assert n > 0 is looked at now and at each stop, where its variables are known; info assert lists these, delete assert N ends\none. With --at it is a breakpoint (info breakpoints, delete N), which a rank passes, or stops at with --stop. A condition\nthat cannot be evaluated is told as that. A file of such lines is read by source and -x. In a batch an assertion that fails\nmakes the exit status 1."},
	{Name: "info assert", Topic: Break, Help: "list the assertions that are looked at at each stop, and displays", do: "info display", parse: parseNothing},

	{Name: "run", Short: []string{"r"}, Topic: Run, Usage: "[ARG...] [&]", Help: "start the program again; processes that still run are killed first", do: "run", parse: parseRun,
		More: "Breakpoints, displays and the handling of signals are kept. ARGs replace the arguments of the program (quotes\nas in the shell), also for the next run. Ranks that sdm has not started cannot be started again."},
	{Name: "start", Topic: Run, Usage: "[ARG...]", Help: "start the program again, and stop at main", do: "run", parse: parseRun},
	{Name: "starti", Topic: Run, Usage: "[ARG...]", Help: "start the program again, and stop at its first instruction", do: "run", parse: parseRun},
	{Name: "continue", Short: []string{"c", "fg"}, Topic: Run, Usage: "[N] [&]", Help: "continue the ranks; N passes the breakpoint N-1 times", do: "continue", repeat: true, parse: parseCount},
	{Name: "next", Short: []string{"n"}, Topic: Run, Usage: "[N] [&]", Help: "step N lines, over calls", do: "next", repeat: true, parse: parseCount},
	{Name: "step", Short: []string{"s"}, Topic: Run, Usage: "[N] [&]", Help: "step N lines, into calls", do: "step", repeat: true, parse: parseCount},
	{Name: "nexti", Short: []string{"ni"}, Topic: Run, Usage: "[N] [&]", Help: "step N instructions, over calls", do: "nexti", repeat: true, parse: parseCount},
	{Name: "stepi", Short: []string{"si"}, Topic: Run, Usage: "[N] [&]", Help: "step N instructions, into calls", do: "stepi", repeat: true, parse: parseCount},
	{Name: "finish", Short: []string{"fin"}, Topic: Run, Usage: "[&]", Help: "run until the selected frame returns", do: "finish", repeat: true, parse: parseNothing},
	{Name: "until", Short: []string{"u"}, Topic: Run, Usage: "[LOCATION] [&]", Help: "run until a line beyond the current one, or a location", do: "until", repeat: true, parse: parseLocation},
	{Name: "advance", Topic: Run, Usage: "LOCATION [&]", Help: "run until a location, in any frame", do: "advance", parse: parsePlace},
	{Name: "jump", Short: []string{"j"}, Topic: Run, Usage: "LOCATION [&]", Help: "continue at a location", do: "jump", parse: parsePlace},
	{Name: "reverse-continue", Short: []string{"rc"}, Topic: Run, Usage: "[&]", Help: "run backwards to a breakpoint or the beginning (this and the other reverse commands need sdm run --reverse)", do: "reverse-continue", repeat: true, parse: parseNothing,
		More: "Ranks are recorded from their first stop on; --stop-at LOCATION begins the record there. The record has the last 200,000\ninstructions (set record full insn-number-max N, 0 for all). A recorded rank runs a thousand times slower. gdb cannot\nrecord vector instructions beyond SSE, the start and the end of threads, and the end of the program: it stops\nbefore them, but hangs where a thread ends (then use kill). \"gdb record stop\" ends the record, \"gdb record full\"\nbegins a new one."},
	{Name: "reverse-next", Short: []string{"rn"}, Topic: Run, Usage: "[N] [&]", Help: "step N lines backwards, over calls", do: "reverse-next", repeat: true, parse: parseCount},
	{Name: "reverse-step", Short: []string{"rs"}, Topic: Run, Usage: "[N] [&]", Help: "step N lines backwards, into calls", do: "reverse-step", repeat: true, parse: parseCount},
	{Name: "reverse-finish", Topic: Run, Usage: "[&]", Help: "run backwards to the call of the selected frame's function", do: "reverse-finish", repeat: true, parse: parseNothing},
	{Name: "reverse-nexti", Short: []string{"rni"}, Topic: Run, Usage: "[N] [&]", Help: "step N instructions backwards, over calls", do: "reverse-nexti", repeat: true, parse: parseCount},
	{Name: "reverse-stepi", Short: []string{"rsi"}, Topic: Run, Usage: "[N] [&]", Help: "step N instructions backwards, into calls", do: "reverse-stepi", repeat: true, parse: parseCount},
	{Name: "interrupt", Topic: Run, Help: "stop running ranks (as Ctrl-C at the prompt)", do: "interrupt", parse: parseNothing,
		More: "For stopped ranks, it ends what their gdbs do: reading symbols for a long time, a function that does not\nreturn. Ctrl-C does the same while sdm waits for an answer; a second Ctrl-C returns to the prompt and shows what is\nmissing, a third one in a row ends sdm."},
	{Name: "kill", Short: []string{"k"}, Topic: Run, Help: "kill the ranks", do: "kill", parse: parseNothing},
	{Name: "detach", Topic: Run, Help: "detach from the ranks, which then run without sdm", do: "detach", parse: parseNothing},
	{Name: "signal", Topic: Run, Usage: "SIGNAL|0 [&]", Help: "continue with a signal; 0 drops the one that the ranks stopped with", do: "signal", parse: parseSignal},
	{Name: "handle", Topic: Run, Usage: "SIGNAL... ACTION...", Help: "set what signals do", do: "handle", parse: parseHandle,
		More: "Actions: stop, nostop, print, noprint, pass, nopass (also ignore, noignore). Without an action: show them."},
	{Name: "barrier", Topic: Run, like: "break", Usage: "LOCATION [if CONDITION] [&]", Help: "run to a location, hold each rank that arrives, and show one stop when all have", do: "barrier", parse: parseBarrier},
	{Name: Wait, Topic: Run, Usage: "[any] [SET] [for DURATION]", Help: "wait until the ranks have stopped or ended; any: until one of them has", parse: parseWait,
		More: "wait any ends at once if a rank of the set is stopped already; wait any @running waits for the next stop."},

	{Name: "backtrace", Short: []string{"bt", "where"}, Topic: Look, Usage: "[full] [N | -N]", Help: "show the stack, N innermost frames, or -N outermost", do: "backtrace", repeat: true, parse: parseBacktrace},
	{Name: "info stack", Topic: Look, Usage: "[full] [N | -N]", Help: "show the stack, as backtrace", do: "backtrace", repeat: true, parse: parseBacktrace},
	{Name: "stacks", Topic: Look, like: nothing, Usage: "[function|line|address] [--all-threads] [--children] [--explain] [--samples N [--every DURATION]] [--folded|--dot|--json|--hang-file] [> FILE]", Help: "show the stacks of all ranks and threads as one tree", do: "stacks", repeat: true, parse: parseStacks,
		More: "With --samples, running ranks are stopped for each sample and continued. The answer shows which ranks never\nmoved, where the others have been how often, and of ranks without gdb processor time and states of threads. Interrupt\n(Ctrl-C) ends the samples.\nFor other programs: --folded (flame graphs, speedscope: one line for each stack, with a count of threads or hits),\n--dot (Graphviz), --json. --hang-file writes a new file for sdm open."},
	{Name: "waits", Topic: Look, like: nothing, Usage: "[--explain] [--samples N] [--every DURATION] [--dot|--json|--hang-file] [> FILE]", Help: "show what ranks wait for in MPI, and why they do not go on", do: "stacks", repeat: true, parse: parseWaits,
		More: "Four samples are taken, 150 ms apart, as stacks --samples does: what is certain was the same in all of them.\nOf ranks that gdb has nothing is certain, since they are stopped (sdm attach --lazy, sdm waits). --dot is for Graphviz."},
	{Name: "frame", Short: []string{"f"}, Topic: Look, Usage: "[N | level N | function NAME | address ADDRESS]", Help: "select a frame and show it; without arguments, show the selected one", do: "frame", parse: parseFrame,
		More: "If a function is on the stack several times, the innermost frame is selected."},
	{Name: "up", Topic: Look, Usage: "[N]", Help: "select the frame that called this one", do: "up", repeat: true, parse: parseCount},
	{Name: "down", Short: []string{"dow"}, Topic: Look, Usage: "[N]", Help: "select the frame that this one called", do: "down", repeat: true, parse: parseCount},
	{Name: "info locals", Topic: Look, Help: "show local variables", do: "info locals", repeat: true, parse: parseNothing},
	{Name: "info args", Topic: Look, Help: "show the arguments of the selected frame", do: "info args", repeat: true, parse: parseNothing},
	{Name: "info threads", Topic: Look, Usage: "[N...]", Help: "show threads", do: "info threads", repeat: true, parse: parseThreads},
	{Name: "info registers", Topic: Look, Usage: "[NAME...]", Help: "show registers", do: "info registers", repeat: true, parse: parseRegisters},
	{Name: "info signals", Topic: Look, Usage: "[SIGNAL]", Help: "show what signals do", do: "info signals", parse: parseInfoSignals},
	{Name: "info sharedlibrary", Topic: Look, Usage: "[REGEX]", Help: "show the loaded libraries (those whose names match REGEX)", do: "info sharedlibrary", parse: parseLibraries,
		More: "After an attach, gdb reads the symbols of a library when a command needs them (at once with\n--eager-symbols)."},
	{Name: "sharedlibrary", Topic: Look, Usage: "[REGEX]", Help: "read lines and types of libraries from their separate debug files", do: "sharedlibrary", parse: parseLibraries,
		More: "gdb does not read them by itself, except with --eager-symbols: it takes time and memory.\nFunctions have their names without them."},
	{Name: "info display", Topic: Look, Help: "list the displayed expressions", do: "info display", parse: parseNothing},
	{Name: "info", Short: []string{"i", "inf"}, Topic: Look, Usage: "WORD...", Help: "show other information of gdb: info source, line, symbol, frame, types, functions...", do: "gdb", repeat: true, parse: passWord},
	{Name: "print", Short: []string{"p", "inspect"}, Topic: Look, Usage: "[--all] [/FORMAT] [EXPR]", Help: "evaluate an expression; without one, show the last value of each rank again", do: "print", repeat: true, parse: parsePrint,
		More: "Structures, arrays and pointers of equal shape are one answer: {x = 0..5, y = <1 [0-3], 7 [4,5]>, p = <buf+16>}. A range\nwithout a number of values has no gaps; expand shows the values of each rank.\nWith --all every distinct value is fetched, otherwise the first 16.\nFormats are those of gdb: print/x n.\n$ in EXPR is the last printed expression of each rank, evaluated again, while the rank is stopped and the same frame is\nselected: print *head, then print *$.next. Values have no numbers ($1); set $name = EXPR keeps a value."},
	{Name: "display", Topic: Look, Usage: "[/FORMAT] [EXPR]", Help: "show an expression now and at every stop; without EXPR, show all of them now", do: "display", parse: parseDisplay},
	{Name: "undisplay", Topic: Look, Usage: "[N...]", Help: "end the display of expressions (all, if none is named)", do: "undisplay", parse: parseUndisplay},
	{Name: "ptype", Topic: Look, Usage: "[/FLAGS] EXPR|TYPE", Help: "show the definition of a type", do: "ptype", repeat: true, parse: parseType},
	{Name: "whatis", Topic: Look, Usage: "EXPR", Help: "show the type of an expression", do: "whatis", repeat: true, parse: parseType},
	{Name: "x", Topic: Look, Usage: "[/FORMAT] ADDRESS", Help: "examine memory: a count, a format and a size (b, h, w, g), as in x/4xw &a", do: "x", repeat: true, parse: parseExamine},
	{Name: "output", Topic: Look, Usage: "[/FORMAT] EXPR", Help: "evaluate an expression, without its name", do: "gdb", repeat: true, parse: passFormat},
	{Name: "printf", Topic: Look, Usage: "\"FORMAT\", EXPR...", Help: "print expressions in a format as in C", do: "gdb", repeat: true, parse: passArgs},
	{Name: "list", Short: []string{"l"}, Topic: Look, Usage: "[LOCATION | FIRST,LAST | FIRST, | ,LAST | -]", Help: "show source lines; without argument, around the current one, then the next ones", do: "list", repeat: true, parse: parseList,
		More: "FIRST and LAST are locations: work.c:20,30 or compute,main. \"FIRST,\" shows ten lines from there on, \",LAST\" ten lines up to\nthere. set listsize N sets the number of lines."},
	{Name: "directory", Short: []string{"dir"}, Topic: Look, Usage: "DIR...", Help: "search these directories for sources first, on the hosts of the ranks", do: "gdb", parse: passArgs,
		More: "If all sources were moved: set substitute-path FROM TO. Both are sent to each gdb. gdb directory, without DIR, removes them."},
	{Name: "disassemble", Short: []string{"disas"}, Topic: Look, Usage: "[/MODIFIERS] [FUNCTION|RANGE]", Help: "show instructions; /s with source, /r with bytes", do: "disassemble", repeat: true, parse: parseDisassemble},
	{Name: "thread", Short: []string{"t"}, Topic: Look, Usage: "[N | RANK.N]", Help: "select a thread and show where it is; without N, show the selected one", do: "thread", parse: parseThread},
	{Name: "thread apply", Topic: Look, Usage: "all|N... COMMAND", Help: "execute a command that shows something for several threads of each rank", do: "thread apply", repeat: true, parse: parseApply,
		More: "For one thread of one rank: [3.2] COMMAND."},
	{Name: "thread name", Topic: Look, like: nothing, Usage: "[NAME]", Help: "give the selected thread a name in gdb; without NAME, remove it", do: "gdb", parse: parseThreadName},
	{Name: "thread find", Topic: Look, like: nothing, Usage: "REGEX", Help: "show the threads whose name or target id matches a regular expression", do: "info threads", parse: parseExprOf},
	{Name: "dump", Topic: Look, like: nothing, Usage: "memory FILE FROM TO", Help: "write memory to FILE.RANK for each rank, on its host; %r in FILE stands for the rank", do: "dump memory", parse: parseDump},
	{Name: "memory", Short: []string{"mem"}, Topic: Look, like: nothing, Usage: "read ADDRESS COUNT | write ADDRESS = BYTES", Help: "show bytes, or write them, two hexadecimal digits each", do: "memory read", parse: parseMemory},
	{Name: "members", Topic: Look, like: "print", Usage: "EXPR", Help: "show what a value consists of: members of structures, bases, elements, with their types", do: "members", repeat: true, parse: parseMembers,
		More: "expand shows further ones. Containers are shown as gdb's pretty-printers have them. The expression must not assign or call."},
	{Name: "stat", Topic: Look, like: "print", Usage: "[--all] EXPR", Help: "show statistics of an expression over the ranks: numbers, with a histogram if there are many; counts of constants and booleans", do: "stat", repeat: true, parse: parseValues,
		More: "Mean and standard deviation are exact. For more than 64 ranks the error of a quantile is at most 3 % of it,\nand usually much less. With --all every value is fetched, and quantiles are exact."},
	{Name: "diff", Topic: Look, like: "print", Usage: "[--all] [--tolerance NUMBER] EXPR | --file FILE [--tolerance NUMBER] [EXPR[, EXPR...]]", Help: "show which ranks differ from the majority, or from a file of save values", do: "diff", repeat: true, parse: parseDifference,
		More: "With --file the values are those of save values, in this job or another one; without EXPR all that were saved. The n-th diff\n--file of a session is about the n-th snapshot of the file. In a batch, a difference makes the exit status 1.\nThe majority is the value that more than half of the ranks have.\nWith --tolerance 1e-9 two numbers are equal if they differ by at most 1e-9, or if the greater one is above 1, by at most 1e-9\nof it. The same applies to elements of arrays and vectors."},
	{Name: Whole, Topic: Look, like: nothing, Usage: "EXPR --by OFFSET [--png FILE] [--width N]", Help: "show a distributed array as one: statistics, NaN, where they are, gaps and overlaps", do: "values", parse: parseWhole,
		More: "OFFSET is the place of the first element of the piece of each rank, or, with $i, of its element $i (from 0):\n  whole u --by begin\n  whole u --by (y0 + $i / nx) * width + x0 + $i % nx\nIt is an expression of + - * / % (those of C), numbers, $i, and names that the ranks evaluate. --png writes an image of a\nsample, N places of the array in a row; red places are NaN or infinite, grey ones are missing."},
	{Name: Expand, Topic: Look, like: nothing, Usage: "[N]", Help: "show the last folded answer in full (N: the one N-1 before it)", parse: parseExpand,
		More: "If a long array or container was truncated, the next 200 elements are shown, also if it is part of a value."},

	{Name: "set variable", Topic: Change, like: "print", Usage: "NAME = EXPR", Help: "give a variable a value", do: "set variable", parse: parseExpr},
	{Name: "set breakpoint", Topic: Break, Usage: "pending auto|on|off", Help: "let breakpoints wait for libraries that are not loaded yet", parse: parseSetBreakpoint,
		More: "auto: the console asks at the prompt; in scripts a breakpoint at an unknown location is pending."},
	{Name: ShowBreakpoint, Topic: Break, Usage: "pending", Help: "show whether breakpoints may wait for libraries", parse: parseShowBreakpoint},
	{Name: "with", Topic: Break, Usage: "breakpoint pending on|off|auto -- COMMAND", Help: "let breakpoints wait for libraries in one command", parse: parseWith},
	{Name: "set", Topic: Change, Usage: "NAME = EXPR | SETTING VALUE", Help: "give a variable a value, or change a setting of each gdb", do: "gdb", parse: parseSet},
	{Name: "show", Topic: Look, Usage: "SETTING", Help: "show a setting of gdb", do: "gdb", parse: parseShow},
	{Name: "call", Topic: Change, Usage: "EXPR", Help: "call a function of the program", do: "call", parse: parseExpr},

	{Name: SetWait, Topic: Other, Usage: "DURATION|none", Help: "set how long the answers to the next commands may take", parse: parseSetWait,
		More: "For one command only: wait=2s COMMAND. It does not limit how long the program runs."},
	{Name: SetEcho, Topic: Other, Usage: "on|off", Help: "show the commands of scripts before their answers, as if they were typed", parse: parseSetEcho},
	{Name: SetConfirm, Topic: Other, Usage: "on|off", Help: "ask once before quit or Ctrl-D at the prompt kills ranks; a second quit is yes", parse: parseSwitch},
	{Name: ShowConfirm, Topic: Other, Help: "show whether quit asks before it kills ranks", parse: parseNothing},
	{Name: SetHeight, Topic: Other, Usage: "N", Help: "set how many lines of an answer are shown before the prompt asks whether to continue; 0 is all", parse: parseHeight},
	{Name: ShowHeight, Topic: Other, Help: "show the number of lines of set height", parse: parseNothing},
	{Name: SetWidth, Topic: Other, Usage: "N", Help: "set after how many characters a line of an answer is broken, at the prompt of a terminal only; 0 is never", parse: parseHeight},
	{Name: ShowWidth, Topic: Other, Help: "show the number of characters of set width", parse: parseNothing},
	{Name: SetPagination, Topic: Other, Usage: "on|off", Help: "ask after each page of a long answer, at the prompt of a terminal only", parse: parseSwitch},
	{Name: ShowPagination, Topic: Other, Help: "show whether long answers are paged", parse: parseNothing},
	{Name: SetListsize, Topic: Other, Usage: "N", Help: "set how many lines list shows at a time", parse: parseListsize},
	{Name: ShowListsize, Topic: Other, Help: "show how many lines list shows at a time", parse: parseNothing},
	{Name: "gdb", Topic: Other, like: anyOfGDB, Usage: "COMMAND", Help: "send a command line to the gdb of each rank", do: "gdb", repeat: true, parse: parseGDB,
		More: "gdb is started without ~/.gdbinit, so that it answers as sdm expects. gdb source ~/.gdbinit reads one when ranks\nhave a gdb; in ~/.config/sdm/sdmrc that line, or set print pretty on, does it in each session."},
	{Name: "mi", Topic: Other, like: nothing, Usage: "-COMMAND", Help: "send a GDB/MI command to the gdb of each rank", do: "mi", repeat: true, parse: parseMI},
	{Name: Source, Topic: Other, Usage: "FILE", Help: "execute the commands of a file", parse: parseText},
	{Name: Shell, Short: []string{"!"}, Topic: Other, Usage: "COMMAND", Help: "execute a shell command on this host", parse: parseText},
	{Name: Echo, Topic: Other, Usage: "TEXT", Help: "print a text; \\n is a new line", parse: parseEcho},
	{Name: "send", Topic: Other, like: nothing, Usage: "SET TEXT | SET EOF", Help: "write a line to the standard input of the ranks", do: "send", parse: parseSend,
		More: "A text in double quotes is sent without a newline at its end; \\n, \\t, \\\" and \\\\ are escapes.\nEOF alone closes their standard input."},
	{Name: Help, Short: []string{"h"}, Topic: Other, Usage: "[COMMAND]", Help: "show the commands, or one of them", parse: parseHelp},
	{Name: Leave, Topic: Other, Help: "leave the session, which goes on; sdm join comes back to it", parse: parseNothing},
	{Name: Quit, Short: []string{"q", "exit"}, Topic: Other, Usage: "[STATUS]", Help: "end the session: kill the ranks that sdm has started, detach from the others", parse: parseQuit},
}
