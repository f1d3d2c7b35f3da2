// Memory, as gdb's x shows it.

package values

import (
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// memory is the body of x. The values of row K are in column "value.K", its
// address in "K.addr": addresses differ between ranks where labels do not.
type memory struct {
	Expr   string              `json:"expr"`
	Format string              `json:"format,omitempty"`
	Rows   []gdbtext.MemoryRow `json:"rows"`
}

// maxRows bounds what x may show.
const maxRows = 2000

func (p *Printer) examine(q *request.Request) {
	if !gdbtext.IsFormat(q.Args.Format) {
		p.Fail(q, gdbtext.InvalidFormat(q.Args.Format))
		return
	}
	if n := gdbtext.FormatCount(q.Args.Format); n > maxRows*8 || n < -maxRows*8 {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "x shows 16000 units at most", Hint: "dump memory writes more into a file"})
		return
	}
	if q.Args.Expr == "" && p.examined == (examination{}) {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Argument required (starting display address)."})
		return
	}
	if q.Args.Expr == "" && p.Settings().Shared {
		p.resumeExamining(q)
	}
	p.InConsole(q, gdbtext.ExamineLine(&q.Args), func(text string) {
		body := memory{Expr: q.Args.Expr, Format: q.Args.Format, Rows: []gdbtext.MemoryRow{}}
		c := ColumnsOf(p.Process().Rank, q.Args.Limit)
		for line := range strings.Lines(text) {
			if len(body.Rows) == maxRows {
				break
			}
			row, addr, value := gdbtext.ParseMemoryLine(strings.TrimSuffix(line, "\n"))
			n := strconv.Itoa(len(body.Rows))
			if n == "0" {
				p.examined = examination{format: q.Args.Format, addr: addr}
			}
			body.Rows = append(body.Rows, row)
			c.Add(n+".addr", addr)
			c.Add("value."+n, value)
		}
		p.Reply(q, body, c.Sorted()...)
	})
	p.keepExamined(q)
}

// examination is the last x of the rank: its format as the user gave it, and its first address.
type examination struct {
	format, addr string
	line         bool // info line was executed since: x begins at its address
}

// resumeExamining makes gdb repeat the last x of this rank: x without an address continues after the last
// one, which in a shared gdb may be another rank's.
func (p *Printer) resumeExamining(q *request.Request) {
	if p.examined.addr == "" {
		return
	}
	line := gdbtext.ExamineLine(&protocol.Args{Expr: p.examined.addr, Format: p.examined.format})
	p.Ask(request.Internal("x"), func(request.Answer) {}, "-interpreter-exec", append(p.At(q), "console", line)...).Print = true
}

// LastShown are gdb's variables for the last address that x or info line has shown and
// for its contents. To keep them for one rank, since sdm's own commands change them,
// this and the suffix of the rank are appended to their names.
var LastShown = map[string]string{"_": "at", "__": "in"}

// keepExamined saves them for this rank.
func (p *Printer) keepExamined(q *request.Request) {
	for _, name := range []string{"_", "__"} {
		line := "set $" + name + LastShown[name] + p.VariableSuffix() + " = $" + name
		p.Tell("x", "-interpreter-exec", append(p.At(q), "console", line)...)
	}
}

// KeepLine keeps the address that info line has shown.
func (p *Printer) KeepLine(q *request.Request) {
	p.examined = examination{line: true}
	p.keepExamined(q)
}
