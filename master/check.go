package master

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// usage returns the fault of a call with invalid arguments.
func usage(op, hint, format string, args ...any) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Op: op, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// lookup returns the command of a call, or a fault that suggests a similar one.
func lookup(name string) (protocol.CommandInfo, *protocol.Fault) {
	if info, ok := protocol.LookupCommand(name); ok {
		return info, nil
	}
	hint := "help lists the commands"
	if near := nearest(name); near != "" {
		hint = "did you mean " + near + "?"
	}
	return protocol.CommandInfo{}, usage("", hint, "unknown command %q", protocol.Clip(name))
}

// required are the arguments that a command must have.
var required = []struct {
	command string
	missing func(protocol.Args) bool
	what    string
}{
	{"rbreak", func(a protocol.Args) bool { return a.Expr == "" }, "a regular expression, as in rbreak ^solve_"},
	{"set variable", func(a protocol.Args) bool { return a.Expr == "" }, "an assignment, as in set variable n = 3"},
	{"call", func(a protocol.Args) bool { return a.Expr == "" }, "an expression, as in call f(3)"},
	{"ptype", func(a protocol.Args) bool { return a.Expr == "" }, "an expression or a type, as in ptype struct point"},
	{"whatis", func(a protocol.Args) bool { return a.Expr == "" }, "an expression, as in whatis n"},
	{"advance", func(a protocol.Args) bool { return a.Location == "" }, "a location, as in advance work.c:31"},
	{"jump", func(a protocol.Args) bool { return a.Location == "" }, "a location, as in jump 31"},
	{"signal", func(a protocol.Args) bool { return a.Signal == "" }, "a signal, as in signal SIGUSR1, or 0"},
	{"handle", func(a protocol.Args) bool { return a.Signal == "" }, "a signal, as in handle SIGUSR1 nostop"},
	{"stat", func(a protocol.Args) bool { return a.Expr == "" }, "an expression, as in stat n"},
	{"diff", func(a protocol.Args) bool { return a.Expr == "" }, "an expression, as in diff n"},
	{"watch", func(a protocol.Args) bool { return a.Expr == "" }, "an expression, as in watch total"},
	{"catch", func(a protocol.Args) bool { return a.Event == "" }, "an event, as in catch throw"},
	{"log", func(a protocol.Args) bool { return a.Location == "" || len(a.Exprs) == 0 }, "a location and expressions, as in log work.c:31, n"},
	{"barrier", func(a protocol.Args) bool { return a.Location == "" }, "a location, as in barrier work.c:31"},
	{"condition", func(a protocol.Args) bool { return len(a.Breakpoints) != 1 }, "one breakpoint"},
	{"ignore", func(a protocol.Args) bool { return len(a.Breakpoints) != 1 }, "one breakpoint"},
	{"thread apply", func(a protocol.Args) bool { return a.Threads == "" || a.Apply == "" }, "threads and a command, as in thread apply all backtrace"},
	{"dump memory", func(a protocol.Args) bool { return a.File == "" || a.From == "" || a.To == "" }, "a file and two addresses"},
	{"memory read", func(a protocol.Args) bool { return a.Expr == "" || a.Count == 0 }, "an address and a number of bytes"},
	{"memory write", func(a protocol.Args) bool { return a.Expr == "" || len(a.Data) == 0 }, "an address and bytes"},
	{"gdb", func(a protocol.Args) bool { return a.Text == "" }, "a gdb command line"},
	{"mi", func(a protocol.Args) bool { return a.Text == "" }, "a GDB/MI command, as in mi -stack-info-frame"},
	{"launch", func(a protocol.Args) bool { return a.Job == nil }, "a job"},
	{"attach", func(a protocol.Args) bool { return len(a.Pids) == 0 && a.JobID == "" }, "process ids, or a job"},
	{"core", func(a protocol.Args) bool { return len(a.Cores) == 0 }, "core files"},
	{"stage", func(a protocol.Args) bool { return a.Piece == nil || len(a.Piece.Data) == 0 }, "a piece of an archive"},
	{"expand", func(a protocol.Args) bool { return a.Of == 0 }, "the number of a request"},
	{"group", func(a protocol.Args) bool { return a.Name == "" || a.Set == "" }, "a name and a set, as in group even = 0-7:2"},
	{"focus", func(a protocol.Args) bool { return a.Set == "" }, "a set, as in focus 0-3"},
	{"send", func(a protocol.Args) bool { return len(a.Data) == 0 && !a.EOF }, "text, or the end of file"},
}

// checkArgs refuses arguments that are invalid on every rank.
func checkArgs(command string, a protocol.Args) *protocol.Fault {
	for _, r := range required {
		if r.command == command && r.missing(a) {
			return usage(command, "", "needs %s", r.what)
		}
	}
	if d, err := time.ParseDuration(cmp.Or(a.Within, "1s")); err != nil || d <= 0 {
		return usage(command, "give it as 20s, or leave it out", "within %q is no time", protocol.Clip(a.Within))
	}
	for _, text := range textsOf(a) {
		if len(text) > protocol.MaxText {
			return usage(command, "", "a text of %d bytes is longer than any command takes (%d): %q", len(text), protocol.MaxText, protocol.Clip(text))
		}
	}
	if text, ok := notUTF8(a); ok {
		return usage(command, "write such bytes as escapes, as in \"\\377\"", "%q is not UTF-8 text", protocol.Clip(text))
	}
	return nil
}

// textsOf returns the texts of a command, except those of a job.
func textsOf(a protocol.Args) []string {
	texts := []string{a.Expr, a.Location, a.Condition, a.By, a.Text, a.Name, a.Set, a.Format, a.Signal, a.Access, a.Event, a.Threads, a.Apply, a.File, a.From, a.To}
	return slices.Concat(texts, a.Actions, a.Exprs, a.Lines)
}

// notUTF8 finds a text that JSON cannot carry unchanged.
func notUTF8(a protocol.Args) (string, bool) {
	texts := textsOf(a)
	for _, c := range a.Cores {
		texts = append(texts, c.File, c.Program)
	}
	if j := a.Job; j != nil {
		texts = append(append(texts, j.Program, j.Cwd, j.StopAt), j.Args...)
		for _, e := range j.Env {
			texts = append(texts, e.Name, e.Value, e.Sep)
		}
	}
	for _, t := range texts {
		if !utf8.ValidString(t) {
			return t, true
		}
	}
	return "", false
}

// sets evaluates rank sets against the state at the time of the call. Some sets are known only when
// ranks have been asked.
type sets struct {
	all         rank.Set
	states      *session.States
	groups      map[string]rank.Set // named by the user
	routes      routes
	breakpoints int // numbers given so far

	named bool // the text has named sets
}

// read parses the text of a call; "" is all. The set may be empty if the text has named sets.
func (s *sets) read(op, text string) (rank.Expr, *protocol.Fault) {
	set, err := rank.ParseExpr(cmp.Or(text, "all"), rank.Env{All: s.all, Group: s.group, Live: s.live})
	if err != nil {
		return rank.Expr{}, usage(op, "", "%s", err)
	}
	if !s.named && set.Eval(nil).IsEmpty() {
		return rank.Expr{}, usage(op, s.summary(), "there are no ranks in %s", protocol.Clip(text))
	}
	return set, nil
}

// empty returns the fault of a call whose set has no ranks at the moment. The call is valid: the
// set may have ranks later.
func (s *sets) empty(op, text string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultState, Op: op, Message: "there are no ranks in " + protocol.Clip(text) + " now", Hint: s.summary()}
}

// group returns a set that the user has named, or one of a state.
func (s *sets) group(name string) (rank.Set, bool) {
	set, ok := s.groups[name]
	if !ok {
		set, ok = s.states.Lookup(name)
	}
	s.named = s.named || ok
	return set, ok
}

// summary counts the ranks by state: "5 stopped, 3 running".
func (s *sets) summary() string {
	counts := map[session.State]int{}
	var order []session.State
	for _, g := range s.states.Groups(s.all) {
		if counts[g.Status.State] == 0 {
			order = append(order, g.Status.State)
		}
		counts[g.Status.State] += g.Ranks.Len()
	}
	var parts []string
	for _, state := range order {
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	return strings.Join(parts, ", ")
}
