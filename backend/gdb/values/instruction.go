// Instructions and registers.

package values

import (
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

func (p *Printer) disassemble(q *request.Request) {
	if !gdbtext.IsFormat(q.Args.Format) {
		p.Fail(q, gdbtext.InvalidFormat(q.Args.Format))
		return
	}
	line := "disassemble"
	if q.Args.Format != "" {
		line += " /" + q.Args.Format
	}
	p.InConsole(q, strings.TrimSpace(line+" "+q.Args.Expr), func(text string) {
		body, current, addr := gdbtext.ParseAssembly(text)
		c := ColumnsOf(p.Process().Rank, q.Args.Limit)
		c.Add("addr", addr)
		c.Add("current", current)
		p.Reply(q, body, c.Sorted()...)
	})
}

// infoRegisters shows registers; the value of each is in column "value.NAME" as
// gdb gives it: raw, and what it means.
func (p *Printer) infoRegisters(q *request.Request) {
	p.InConsole(q, strings.TrimSpace("info registers "+q.Args.Expr), func(text string) {
		body := variables{Names: []string{}}
		c := ColumnsOf(p.Process().Rank, q.Args.Limit)
		for line := range strings.Lines(text) {
			name, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !ok || name == "" {
				continue
			}
			body.Names = append(body.Names, name)
			c.Add("value."+name, gdbtext.RegisterValue(rest))
		}
		if len(body.Names) == 0 {
			p.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: strings.TrimSpace(text)})
			return
		}
		p.Reply(q, body, c.Sorted()...)
	})
}
