// The table of commands that sessions consist of, and their random arguments.

package oracle

// The table of words: which arguments sessions give to each word of the console, and why some words
// are not compared with gdb's.

import (
	"fmt"
	"maps"
	"slices"

	"sdm/master/language"
	"sdm/protocol"
)

// Word is a row of the table.
type Word struct {
	// Args draws arguments; nil: the word is not compared. Lines after the first are the body
	// of a block.
	Args func(g *gen) string
	// Weight tells how often the word is drawn; 0 is 1.
	Weight int
	// Then draws lines that follow at once; nil: none.
	Then func(g *gen) []string
	// Resumes tells that ranks may run after it.
	Resumes bool
	// Own tells why a word is not compared: gdb has no equivalent.
	Own string
}

func (w Word) weight() int { return max(w.Weight, 1) }

// Words is the table, by the name of the console's word, with rows for the words that the console
// derives from protocol.Commands. It is read only.
var Words = func() map[string]Word {
	all := maps.Clone(written)
	for _, w := range language.Words() {
		if info, _ := protocol.LookupCommand(w.Command()); w.Derived() {
			all[w.Name] = derived(info)
		}
	}
	return all
}()

// derived returns the row of a word that the console derives from a command, with the arguments that
// the command takes.
func derived(info protocol.CommandInfo) Word {
	w := Word{Args: nothing, Resumes: info.Resumes}
	switch {
	case info.Ours:
		return Word{Own: "gdb has no such command"}
	case info.Takes("location"):
		w.Args = (*gen).location
	case info.Takes("expr"):
		w.Args = (*gen).expr
	}
	return w
}

// written are the rows of the words with arguments of their own.
var written = map[string]Word{
	"break":   {Args: breaks, Weight: 6},
	"tbreak":  {Args: breaks, Weight: 3},
	"hbreak":  {Args: breaks},
	"thbreak": {Args: breaks},
	"watch":   {Args: watched, Weight: 3},
	"rwatch":  {Args: watched},
	"awatch":  {Args: watched},
	"catch":   {Args: event},
	"tcatch":  {Args: event},
	"condition": {Args: func(g *gen) string { return g.breakpoint() + " " + g.one("", g.condition(), g.condition()) },
		Weight: 3},
	"ignore":           {Args: func(g *gen) string { return g.breakpoint() + " " + fmt.Sprint(g.r.IntN(4)) }, Weight: 2},
	"commands":         {Args: block},
	"enable":           {Args: func(g *gen) string { return g.one("", "once ", "delete ", "count 2 ") + g.breakpoint() }},
	"disable":          {Args: func(g *gen) string { return g.one("", g.breakpoint(), g.breakpoint()) }},
	"delete":           {Args: func(g *gen) string { return g.one("", g.breakpoint(), g.breakpoint(), g.breakpoint()) }},
	"clear":            {Args: func(g *gen) string { return g.one("", g.location(), g.location()) }},
	"rbreak":           {Args: func(g *gen) string { return g.one("^"+g.name(), g.file()+":^"+g.name(), "^nosuch") }},
	"info breakpoints": {Args: func(g *gen) string { return g.one("", "", "", g.breakpoint()) }, Weight: 3},
	"info watchpoints": {Args: nothing},

	"run":              {Args: nothing, Resumes: true},
	"start":            {Args: nothing, Resumes: true},
	"starti":           {Args: nothing, Resumes: true},
	"continue":         {Args: count, Weight: 10, Resumes: true},
	"next":             {Args: count, Weight: 8, Resumes: true},
	"step":             {Args: count, Weight: 8, Resumes: true},
	"nexti":            {Args: count, Weight: 2, Resumes: true},
	"stepi":            {Args: count, Weight: 2, Resumes: true},
	"finish":           {Args: nothing, Weight: 5, Resumes: true},
	"until":            {Args: func(g *gen) string { return g.one("", g.location()) }, Weight: 3, Resumes: true},
	"advance":          {Args: (*gen).location, Weight: 3, Resumes: true},
	"jump":             {Args: (*gen).location, Resumes: true},
	"reverse-continue": {Args: nothing, Resumes: true},
	"reverse-next":     {Args: nothing, Resumes: true},
	"reverse-step":     {Args: nothing, Resumes: true},
	"reverse-finish":   {Args: nothing, Resumes: true},
	"reverse-nexti":    {Args: nothing, Resumes: true},
	"reverse-stepi":    {Args: nothing, Resumes: true},
	"kill":             {Args: nothing},
	"detach":           {Args: nothing},
	"signal":           {Args: func(g *gen) string { return g.one("0", "SIGUSR1", "SIGCHLD", "NOSUCH") }, Resumes: true},
	"handle": {Args: func(g *gen) string {
		return g.one("SIGUSR1", "SIGCHLD", "SIGUSR1 SIGUSR2", "NOSUCH") + " " + g.one("nostop", "stop print", "nopass", "pass noprint", "wrong")
	}},

	"backtrace":   {Args: func(g *gen) string { return g.one("", "", "full", "2", "-1", "full 1", "-full") }, Weight: 6},
	"info stack":  {Args: func(g *gen) string { return g.one("", "1") }},
	"frame":       {Args: frames, Weight: 2},
	"up":          {Args: count, Weight: 3},
	"down":        {Args: count, Weight: 2},
	"info locals": {Args: nothing, Weight: 4},
	"info args":   {Args: nothing, Weight: 3},
	"info registers": {Args: func(g *gen) string {
		return g.one("rip", "$sp", "rax rbx", "eflags", "nosuch", "xmm0", "rflags")
	}},
	"info signals": {Args: func(g *gen) string { return g.one("SIGUSR1", "14", "SIGCHLD", "NOSUCH") }},
	"info display": {Args: nothing},
	"info": {Args: func(g *gen) string {
		return g.one("source", "line", "line "+g.location(), "symbol "+g.name(), "symbol $pc", "address "+g.name(), "frame", "scope "+g.name(), "scope "+g.location(), "types nosuch", "all-nosuch", "nosuch", "macro NOSUCH",
			"types-nosuch")
	}, Weight: 5},
	"print":     {Args: func(g *gen) string { return g.one("", "", "", g.format()) + " " + g.expr() }, Weight: 14},
	"display":   {Args: shown},
	"undisplay": {Args: func(g *gen) string { return g.one("", fmt.Sprint(1+g.r.IntN(max(g.shown, 1))), "99") }},
	"ptype":     {Args: func(g *gen) string { return g.one("", "/o") + " " + g.typeOrExpr() }, Weight: 3},
	"whatis":    {Args: (*gen).typeOrExpr, Weight: 3},
	"x": {Args: examined, Weight: 3, Then: func(g *gen) []string {
		return []string{g.one("x", "x", "x/2", "print $_", "print $__", "whatis $_")}
	}},
	"output": {Args: func(g *gen) string { return g.one("", "/x") + " " + g.expr() }},
	"printf": {Args: func(g *gen) string {
		return g.one(`"%d\n", `+g.number(), `"%g %d\n", 1.5, `+g.number(), `"%s\n", 1`, `"x"`, `"%.2f|%c|%p|%%\n", 2.5, 65, 0`, `"%d %d\n", `+g.number(), `"%s\n", "text"`, `"%lu %x\n", sizeof(int), `+g.number(), `"%z\n", 1`)
	}},
	"list":         {Args: lines, Weight: 3},
	"disassemble":  {Args: func(g *gen) string { return g.one("", "/s", "/r") + " " + g.one("", g.name(), "$pc,+12", "nosuch") }},
	"set variable": {Args: func(g *gen) string { return g.number() + " = " + fmt.Sprint(g.r.IntN(6)) }, Weight: 2},
	"set":          {Args: settings, Weight: 4, Then: lookAtValues},
	"show": {Args: func(g *gen) string {
		return g.one("print elements", "print pretty", "language", "nosuch", "print "+switches[g.r.IntN(len(switches))], "max-value-size")
	}},
	"call": {Args: (*gen).expr, Weight: 2},
	"gdb": {Args: func(g *gen) string {
		return g.one("print "+g.expr(), "info line", "show version", "nosuch", "ptype int")
	}},
	"thread":       {Own: "where the thread is, in other words"},
	"info threads": {Args: nothing},
	"thread apply": {Args: func(g *gen) string {
		return g.one("all ", "1 ") + g.one("backtrace 1", "print "+g.number(), "info locals")
	}},
	"thread find":    {Own: "a table of threads"},
	"thread name":    {Own: "says nothing"},
	"echo":           {Args: func(g *gen) string { return `some words\n` }},
	"set breakpoint": {Args: func(g *gen) string { return "pending " + g.one("on", "off") }},

	"save":               {Own: "writes a file"},
	"focus":              {Own: "gdb has no sets of ranks"},
	"group":              {Own: "gdb has no sets of ranks"},
	"groups":             {Own: "gdb has no sets of ranks"},
	"ranks":              {Own: "gdb has no ranks"},
	"info ranks":         {Own: "gdb has no ranks"},
	"usage":              {Own: "gdb has no ranks"},
	"info hosts":         {Own: "gdb knows one host"},
	"assert":             {Own: "gdb has no assertions"},
	"info assert":        {Own: "gdb has no assertions"},
	"whole":              {Own: "gdb has one rank"},
	"log":                {Own: "gdb's dprintf takes a format"},
	"barrier":            {Own: "gdb has no other ranks to wait for"},
	"wait":               {Own: "gdb waits always"},
	"interrupt":          {Own: "no rank runs while a script goes on"},
	"stacks":             {Own: "gdb has no tree of stacks"},
	"waits":              {Own: "gdb does not know MPI"},
	"members":            {Own: "gdb's command line lists no members"},
	"stat":               {Own: "gdb has one rank"},
	"diff":               {Own: "gdb has one rank"},
	"expand":             {Own: "gdb folds nothing"},
	"dump":               {Own: "the names of files have a rank"},
	"memory":             {Own: "a command of GDB/MI only"},
	"set height":         {Own: "about a person's screen"},
	"show height":        {Own: "about a person's screen"},
	"set confirm":        {Own: "about a person's prompt"},
	"show confirm":       {Own: "about a person's prompt"},
	"set width":          {Own: "about a person's screen"},
	"show width":         {Own: "about a person's screen"},
	"set pagination":     {Own: "about a person's screen"},
	"show pagination":    {Own: "about a person's screen"},
	"directory":          {Own: "what gdb says then lists directories of its own"},
	"set wait":           {Own: "gdb waits always"},
	"set echo":           {Own: "gdb's is trace-commands"},
	"set listsize":       {Args: func(g *gen) string { return fmt.Sprint(1 + g.r.IntN(12)) }},
	"show listsize":      {Own: "other words for the same number"},
	"show breakpoint":    {Own: "sdm's own setting"},
	"with":               {Own: "of one setting only"},
	"mi":                 {Own: "what gdb says is GDB/MI"},
	"source":             {Own: "its commands are compared one by one"},
	"shell":              {Own: "no command of gdb's"},
	"send":               {Own: "gdb does not feed a program"},
	"help":               {Own: "sdm's own text"},
	"quit":               {Own: "ends the comparison"},
	"leave":              {Own: "parts from a session that several share"},
	"info sharedlibrary": {Args: nothing},
	"sharedlibrary":      {Own: "reads symbols that plain gdb has read"},
}

// compared are the words with arguments, in order.
var compared = func() []string {
	var all []string
	for name, w := range Words {
		if w.Args != nil {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}()

// The functions below draw the arguments of words.

func nothing(*gen) string { return "" }

func count(g *gen) string { return g.few(4) }

func breaks(g *gen) string {
	g.points++
	at := g.location()
	if g.r.IntN(3) == 0 {
		return at + " if " + g.condition()
	}
	return g.one(at, at, at, "")
}

func watched(g *gen) string {
	g.points++
	what := g.one("", "", "-l ") + g.one(g.number(), g.value(), g.value())
	if g.r.IntN(5) == 0 {
		what += " if " + g.condition()
	}
	return what
}

func event(g *gen) string {
	g.points++
	return g.one("syscall write", "syscall nosuch", "throw", "load", "fork", "nosuch", "syscall exit_group")
}

func block(g *gen) string {
	return g.one("", g.breakpoint()) + "\n" + g.one("silent\n", "") + "whatis " + g.value() + g.one("", "\ninfo locals")
}

func frames(g *gen) string {
	return g.one("", "0", "1", "2", "99", "function "+g.name(), "function nosuch", "level 1", "-1")
}

func shown(g *gen) string {
	g.shown++
	return g.one("", "", g.format()) + " " + g.one(g.expr(), g.number(), "")
}

func examined(g *gen) string {
	return g.one("/4xw ", "/2dw ", "/s ", "/3i ", "/2xg ", "/8xb ", "/2f ", "/c ", "/a ", "") + g.one("&"+g.value(), g.value(), "$sp", "$pc", "main", "nosuch", "")
}

func lines(g *gen) string {
	f := g.function()
	if f == nil {
		return ""
	}
	return g.one("", "", f.Name, fmt.Sprint(f.Lines[0]), fmt.Sprintf("%d,%d", f.Lines[0], f.Lines[0]+3),
		f.File+":"+fmt.Sprint(f.Lines[0]), "-", "9999", "nosuch", f.Name+",")
}

// switches are settings of print; most of them are on or off.
var switches = []string{"pretty", "object", "static-members", "null-stop", "union", "address", "symbol", "array", "array-indexes", "vtbl", "demangle", "asm-demangle", "symbol-filename", "sevenbit-strings",
	"max-symbolic-offset", "finish", "entry-values", "raw-frame-arguments", "type methods", "type typedefs", "type nested-type-limit", "frame-info"}

// printing draws a setting of print.
func (g *gen) printing() string {
	switch name := switches[g.r.IntN(len(switches))]; name {
	case "max-symbolic-offset", "type nested-type-limit":
		return name + " " + g.one("0", "1", "unlimited")
	case "entry-values":
		return name + " " + g.one("no", "only", "preferred", "both", "default", "compact")
	case "frame-info":
		return name + " " + g.one("location", "short-location", "location-and-address", "auto")
	default:
		return g.one(name+" on", name+" off", "elements 4", "elements 200", "elements unlimited", "repeats 3", "repeats unlimited", "max-depth 1", "max-depth 0", "max-depth unlimited",
			"frame-arguments all", "frame-arguments none", "frame-arguments presence", "characters 5", "nosuch")
	}
}

// lookAtValues draws lines whose output depends on a setting.
func lookAtValues(g *gen) []string {
	lines := []string{"print " + g.value(), "info locals"}
	return append(lines, g.one("backtrace", "info args", "print *"+g.value(), "frame", "ptype "+g.value(), "print &"+g.value()))
}

func settings(g *gen) string {
	if g.r.IntN(3) > 0 {
		return "print " + g.printing()
	}
	return g.one("output-radix 16", "nosuch", "$v = "+g.number(), "$w = "+g.value(), "language c", "width 80", "step-mode on", "max-value-size 100", "listsize 3")
}

// format draws a format of print.
func (g *gen) format() string {
	return "/" + g.one("x", "d", "u", "o", "t", "c", "f", "a", "s", "z", "r")
}

// name draws the name of a function.
func (g *gen) name() string {
	if f := g.function(); f != nil {
		return f.Name
	}
	return "main"
}

// file draws a file with code.
func (g *gen) file() string {
	if f := g.function(); f != nil {
		return f.File
	}
	return "nosuch.c"
}

// typeOrExpr draws an argument of ptype: an expression or a type.
func (g *gen) typeOrExpr() string {
	kinds := []string{g.expr(), g.expr(), g.value(), "int", "unsigned long", "struct nosuch", g.name()}
	if all := g.program.Symbols.Types; len(all) > 0 && !g.fortran() {
		name := all[g.r.IntN(len(all))]
		if g.program.Language == "c" {
			name = "struct " + name
		}
		kinds = append(kinds, name, name+" *")
	}
	return g.one(kinds...)
}
