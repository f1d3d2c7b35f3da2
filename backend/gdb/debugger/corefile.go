// A core file in place of a process.

package debugger

import (
	"fmt"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/pattern"
)

// openCore loads the program and the core file of a rank.
//
// Several may share a gdb if its inferiors are added before the first one loads a core
// file: an inferior that is added later takes over the connection, and gdb 13.1 crashes
// when it gets another file.
func (att *attachment) openCore(q *request.Request) {
	att.ask(q, func(a request.Answer) {
		if a.Failed() {
			att.notOpened(att.Target.Program, a)
		}
	}, "-file-exec-and-symbols", append(att.here(), att.Target.Program)...)
	// -target-select and the target core of gdb 13 take quotes as part of the name; in gdb 16 target
	// core requires quotes if the name contains spaces.
	att.targetCore(q, att.Target.Core, func(a request.Answer) {
		if a.Failed() && strings.ContainsAny(att.Target.Core, " \t\"'\\") {
			att.targetCore(q, quotedName(att.Target.Core), func(b request.Answer) {
				if b.Failed() && !strings.HasPrefix(a.Results.Str("msg"), "Junk after filename") {
					b = a
				}
				att.opened(q, b)
			})
			return
		}
		att.opened(q, a)
	})
}

func (att *attachment) targetCore(q *request.Request, name string, then func(request.Answer)) {
	att.ask(q, then, "-interpreter-exec", append(att.here(), "console", "target core "+name)...).Print = true
}

// quotedName quotes a file name for gdb commands that take quotes (GDB manual,
// Filenames As Command Arguments).
func quotedName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

func (att *attachment) notOpened(file string, a request.Answer) {
	if att.attaching == nil {
		return // reported already
	}
	words := strings.TrimLeft(strings.TrimPrefix(a.Results.Str("msg"), `"`+file+`"`), ": ")
	words = strings.TrimPrefix(words, "is ")
	att.refused(&protocol.Fault{Kind: protocol.FaultLaunch, Message: fmt.Sprintf("cannot open %s: %s", file, words)})
}

// opened reports how the program ended. gdb reports no stop, and the signal only in its
// text output. The thread that ended the program is the first in the file.
func (att *attachment) opened(q *request.Request, a request.Answer) {
	if a.Failed() {
		att.notOpened(att.Target.Core, a)
		return
	}
	att.warned = warnings(a.Text)
	first := att.Thread(att.firstThread())
	att.ask(q, func(at request.Answer) { att.coreFrame(q, first, a.Text, at) }, "-stack-info-frame", "--thread", att.GDBThread(first.ID), "--frame", "0")
}

// coreFrame processes the frame of the first thread.
func (att *attachment) coreFrame(q *request.Request, first *values.Thread, words string, at request.Answer) {
	if att.attaching == nil || att.State.IsOver() {
		return
	}
	att.attaching = nil
	att.Done(q)
	att.choose(request.Selection{Thread: first.ID})
	first.Stop = mi.Tuple{{Name: "reason", Value: mi.Value{Str: values.StopAtCore}}}
	if name, meaning := terminatedBy(words); name != "" {
		first.Stop = append(first.Stop,
			mi.Field{Name: "signal-name", Value: mi.Value{Str: name}},
			mi.Field{Name: "signal-meaning", Value: mi.Value{Str: meaning}})
	}
	if f, ok := at.Results.Get("frame"); ok {
		first.Stop = append(first.Stop, mi.Field{Name: "frame", Value: f})
	}
	for _, w := range att.warned {
		att.Event(protocol.KindNote, protocol.Note{Text: w})
	}
	if att.phase == attaching {
		att.enter(held)
	}
	att.then(first)
}

// firstThread returns gdb's number of the first thread; 1 if the file names no threads.
func (att *attachment) firstThread() int {
	if len(att.threads) > 0 {
		return att.threads[0].GDB
	}
	return 1
}

var terminated = pattern.New(`(?m)^Program terminated with signal (\w+)(?:, (.*?))?\.$`)

// terminatedBy finds the signal in gdb's output for a core file.
func terminatedBy(text string) (name, meaning string) {
	if found := terminated.FindStringSubmatch(text); found != nil {
		return found[1], found[2]
	}
	return "", ""
}

// refuseForCore returns the fault for a command that does not work on a core file; nil if it
// does.
func (att *attachment) refuseForCore(info protocol.CommandInfo, args *protocol.Args) *protocol.Fault {
	if !att.IsCore() {
		return nil
	}
	name, needs := info.Name, info.NeedsProcess()
	switch name {
	case "set variable": // it works on gdb's own variables
		needs = !strings.HasPrefix(args.Expr, "$")
	case "gdb", "mi":
		name, _, _ = strings.Cut(strings.TrimSpace(args.Text), " ")
		needs = strings.HasPrefix(name, "-exec-") || gdbtext.Resumes(name)
	}
	if !needs {
		return nil
	}
	return &protocol.Fault{
		Kind: protocol.FaultState, Message: name + " needs a process, and this is a core file",
		Hint: "print, backtrace, stacks and other commands that only inspect work",
	}
}
