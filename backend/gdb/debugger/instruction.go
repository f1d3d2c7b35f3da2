// Instructions and registers.

package debugger

import (
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

func (m *Machine) disassemble(q *Request) {
	if !gdbtext.IsFormat(q.args.Format) {
		m.fail(q, gdbtext.InvalidFormat(q.args.Format))
		return
	}
	line := "disassemble"
	if q.args.Format != "" {
		line += " /" + q.args.Format
	}
	m.inConsole(q, strings.TrimSpace(line+" "+q.args.Expr), func(text string) {
		body, current, addr := gdbtext.ParseAssembly(text)
		c := columnsOf(m.Target.Rank, q.args.Limit)
		c.add("addr", addr)
		c.add("current", current)
		m.reply(q, body, c.sorted()...)
	})
}

// infoRegisters shows registers; the value of each is in column "value.NAME" as
// gdb gives it: raw, and what it means.
func (m *Machine) infoRegisters(q *Request) {
	m.inConsole(q, strings.TrimSpace("info registers "+q.args.Expr), func(text string) {
		body := variables{Names: []string{}}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		for line := range strings.Lines(text) {
			name, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !ok || name == "" {
				continue
			}
			body.Names = append(body.Names, name)
			c.add("value."+name, gdbtext.RegisterValue(rest))
		}
		if len(body.Names) == 0 {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(text)})
			return
		}
		m.reply(q, body, c.sorted()...)
	})
}
