// A core file in place of a process.

package gdb

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sdm/backend/mi"
	"sdm/protocol"
)

// stopAtCore is the reason of the one stop of a core file.
const stopAtCore = "core"

// isCore tells whether the rank is a core file.
func (m *machine) isCore() bool { return m.target.Core != "" }

// openCore loads the program and the core file of a rank.
//
// Several may share a gdb when its inferiors have been added before the first one has a core file:
// one that is added later takes over the connection, and gdb 13.1 crashes when that gets another file.
func (m *machine) openCore(q *request) {
	m.ask(q, func(a answer) {
		if a.failed() {
			m.notOpened(m.target.Program, a)
		}
	}, "-file-exec-and-symbols", append(m.here(), m.target.Program)...)
	// -target-select would take quotes for a part of the name, and so does target core of gdb 13; that of gdb 16
	// wants them where there are spaces.
	m.targetCore(q, m.target.Core, func(a answer) {
		if a.failed() && strings.ContainsAny(m.target.Core, " \t\"'\\") {
			m.targetCore(q, quotedName(m.target.Core), func(b answer) {
				if b.failed() && !strings.HasPrefix(a.Results.Str("msg"), "Junk after filename") {
					b = a
				}
				m.opened(q, b)
			})
			return
		}
		m.opened(q, a)
	})
}

func (m *machine) targetCore(q *request, name string, then func(answer)) {
	m.ask(q, then, "-interpreter-exec", append(m.here(), "console", "target core "+name)...).print = true
}

// quotedName is a file's name for commands of gdb that take quotes (GDB manual, Filenames As Command Arguments).
func quotedName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

func (m *machine) notOpened(file string, a answer) {
	if m.attach.request == nil {
		return // said already
	}
	words := strings.TrimLeft(strings.TrimPrefix(a.Results.Str("msg"), `"`+file+`"`), ": ")
	words = strings.TrimPrefix(words, "is ")
	m.attachRefused(&protocol.Fault{Kind: protocol.FaultLaunch, Message: fmt.Sprintf("cannot open %s: %s", file, words)})
}

// opened reports the end that the program has come to. gdb tells no stop, and the signal only in words
// for people. The thread that brought the end about is the first in the file.
func (m *machine) opened(q *request, a answer) {
	if a.failed() {
		m.notOpened(m.target.Core, a)
		return
	}
	m.coreWarnings = warnings(a.text)
	first := m.thread(m.firstThread())
	m.ask(q, func(at answer) { m.lookAtEnd(q, first, a.text, at) }, "-stack-info-frame", "--thread", m.gdbThread(first.id), "--frame", "0")
}

// lookAtEnd has the first thread's frame.
func (m *machine) lookAtEnd(q *request, first *thread, words string, at answer) {
	if m.attach.request == nil || m.state.IsOver() {
		return
	}
	m.attach.request = nil
	m.done(q)
	m.chosen = selection{thread: first.id}
	m.askRegisters()
	first.stop = mi.Tuple{{Name: "reason", Value: mi.Value{Str: stopAtCore}}}
	if name, meaning := terminatedBy(words); name != "" {
		first.stop = append(first.stop, mi.Field{Name: "signal-name", Value: mi.Value{Str: name}}, mi.Field{Name: "signal-meaning", Value: mi.Value{Str: meaning}})
	}
	if f, ok := at.Results.Get("frame"); ok {
		first.stop = append(first.stop, mi.Field{Name: "frame", Value: f})
	}
	for _, w := range m.coreWarnings {
		m.event(protocol.KindNote, protocol.Note{Text: w})
	}
	if m.rescue.under {
		m.rescued(first)
		return
	}
	m.stopNamed(first, "")
}

// firstThread is gdb's number of the first thread, or of the only one in a file
// that names none.
func (m *machine) firstThread() int {
	if len(m.threads) > 0 {
		return m.threads[0].gdb
	}
	return 1
}

var terminated = regexp.MustCompile(`(?m)^Program terminated with signal (\w+)(?:, (.*?))?\.$`)

// terminatedBy reads the signal off what gdb says when it opens a core file.
func terminatedBy(text string) (name, meaning string) {
	if found := terminated.FindStringSubmatch(text); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

// sections are the names of a core file's sections of registers, one for each thread:
// "`.reg-xstate/12942'".
var sections = regexp.MustCompile(`(\.reg[a-z0-9-]*/)\d+`)

// withoutProcess takes the numbers of threads out of what gdb says, so that all ranks say the same.
func withoutProcess(line string) string { return sections.ReplaceAllString(line, "${1}PID") }

// repeats tells whether a remark is one of the warnings about a core file, which gdb repeats when it reads registers.
func (m *machine) repeats(line string) bool {
	return slices.Contains(m.coreWarnings, withoutProcess(strings.TrimSpace(line)))
}

// withoutRepeats takes such lines out of what gdb has warned of.
func (m *machine) withoutRepeats(text string) string {
	if len(m.coreWarnings) == 0 || text == "" {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !m.repeats(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// mostWarnings bounds those of one core file.
const mostWarnings = 5

// warnings are the first lines of what gdb warns of, each once: that the program
// is not the one that left the file, libraries that are not here, a file that was cut.
func warnings(text string) []string {
	var all []string
	text, directories := unmapped(text)
	if len(directories) > 0 {
		all = append(all, "warning: Can't open files that were mapped, in "+strings.Join(directories, ", "))
	}
	for line := range strings.Lines(text) {
		if line = withoutProcess(strings.TrimSpace(line)); strings.HasPrefix(line, "warning: ") && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	if more := len(all) - mostWarnings; more > 0 {
		all = append(all[:mostWarnings], fmt.Sprintf("warning: %d more", more))
	}
	return all
}

// lostMapping is what gdb says of a file that was mapped and is no more. Those of shared memory have other names in each rank.
var lostMapping = regexp.MustCompile(`(?m)^warning: Can't open file (.*) during file-backed mapping note processing\n*`)

// unmapped takes such warnings out of a text, and gives the directories of the files.
func unmapped(text string) (rest string, directories []string) {
	for _, m := range lostMapping.FindAllStringSubmatch(text, -1) {
		directories = append(directories, path.Dir(m[1]))
	}
	slices.Sort(directories)
	return lostMapping.ReplaceAllString(text, ""), slices.Compact(directories)
}

// needProcess are the commands, besides those that resume, of which a core file has
// nothing.
var needProcess = []string{
	"break", "watch", "catch", "log", "condition", "ignore", "commands", "delete", "enable", "disable", "handle", "kill", "memory write",
}

// lifeless refuses what a core file cannot do; nil when it can.
func (m *machine) lifeless(name string, args *protocol.Args) *protocol.Fault {
	if !m.isCore() {
		return nil
	}
	info, _ := protocol.LookupCommand(name)
	needs := info.Resumes || slices.Contains(needProcess, name)
	switch name {
	case "set variable": // of gdb's own, it can
		needs = !strings.HasPrefix(args.Expr, "$")
	case "gdb", "mi":
		name, _, _ = strings.Cut(strings.TrimSpace(args.Text), " ")
		needs = strings.HasPrefix(name, "-exec-") || slices.Contains(resuming, name)
	}
	if !needs {
		return nil
	}
	return &protocol.Fault{
		Kind: protocol.FaultState, Message: name + " needs a process, and this is a core file",
		Hint: "print, backtrace, stacks and what else only looks works",
	}
}
