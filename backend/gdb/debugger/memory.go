// Memory, as gdb's x shows it.

package debugger

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/protocol"
)

// memory is the body of x. The values of row K are in column "value.K", its
// address in "K.addr": addresses differ between ranks where labels do not.
type memory struct {
	Expr   string              `json:"expr"`
	Format string              `json:"format,omitempty"`
	Rows   []gdbtext.MemoryRow `json:"rows"`
}

// mostRows bounds what x may show.
const mostRows = 2000

func (m *Machine) examine(q *Request) {
	if !gdbtext.IsFormat(q.args.Format) {
		m.fail(q, gdbtext.InvalidFormat(q.args.Format))
		return
	}
	if n := gdbtext.FormatCount(q.args.Format); n > mostRows*8 || n < -mostRows*8 {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "x shows 16000 units at most", Hint: "dump memory writes more into a file"})
		return
	}
	if q.args.Expr == "" && m.examined == (examination{}) {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Argument required (starting display address)."})
		return
	}
	if q.args.Expr == "" && m.GDB.Shared() {
		m.resumeExamining(q)
	}
	m.inConsole(q, gdbtext.ExamineLine(&q.args), func(text string) {
		body := memory{Expr: q.args.Expr, Format: q.args.Format, Rows: []gdbtext.MemoryRow{}}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		for line := range strings.Lines(text) {
			if len(body.Rows) == mostRows {
				break
			}
			row, addr, value := gdbtext.ParseMemoryLine(strings.TrimSuffix(line, "\n"))
			n := strconv.Itoa(len(body.Rows))
			if n == "0" {
				m.examined = examination{format: q.args.Format, addr: addr}
			}
			body.Rows = append(body.Rows, row)
			c.add(n+".addr", addr)
			c.add("value."+n, value)
		}
		m.reply(q, body, c.sorted()...)
	})
	m.keepExamined(q)
}

// examination is what x has shown last: its format as it was typed, and where it began.
type examination struct {
	format, addr string
	line         bool // info line has told where x begins
}

// resumeExamining has gdb examine once more what this rank has seen last: x without an address goes on behind it, and a shared
// gdb would go on behind what another rank has seen.
func (m *Machine) resumeExamining(q *Request) {
	if m.examined.addr == "" {
		return
	}
	line := gdbtext.ExamineLine(&protocol.Args{Expr: m.examined.addr, Format: m.examined.format})
	m.ask(ours("x"), func(answer) {}, "-interpreter-exec", append(m.at(q), "console", line)...).print = true
}
