// Memory, as gdb's x shows it.

package gdb

import (
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
)

// memory is the body of x. The values of row K are in column "value.K", its
// address in "K.addr": addresses differ between ranks where labels do not.
type memory struct {
	Expr   string      `json:"expr"`
	Format string      `json:"format,omitempty"`
	Rows   []memoryRow `json:"rows"`
}

type memoryRow struct {
	Label string `json:"label,omitempty"` // "table+16"
	Here  bool   `json:"here,omitempty"`  // the instruction where the frame stands
}

// mostRows bounds what x may show.
const mostRows = 2000

func (m *machine) examine(q *request) {
	if !isFormat(q.args.Format) {
		m.fail(q, notAFormat(q.args.Format))
		return
	}
	if n := countIn(q.args.Format); n > mostRows*8 || n < -mostRows*8 {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "x shows 16000 units at most", Hint: "dump memory writes more into a file"})
		return
	}
	if q.args.Expr == "" && m.examined == (examination{}) {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Argument required (starting display address)."})
		return
	}
	if q.args.Expr == "" && m.gdb.shared() {
		m.resumeExamining(q)
	}
	m.inConsole(q, examineLine(&q.args), func(text string) {
		body := memory{Expr: q.args.Expr, Format: q.args.Format, Rows: []memoryRow{}}
		c := columnsOf(m.target.Rank, q.args.Limit)
		for line := range strings.Lines(text) {
			if len(body.Rows) == mostRows {
				break
			}
			row, addr, value := memoryLine(strings.TrimSuffix(line, "\n"))
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
func (m *machine) resumeExamining(q *request) {
	if m.examined.addr == "" {
		return
	}
	line := examineLine(&protocol.Args{Expr: m.examined.addr, Format: m.examined.format})
	m.ask(ours("x"), func(answer) {}, "-interpreter-exec", append(m.at(q), "console", line)...).print = true
}

func examineLine(a *protocol.Args) string {
	line := "x"
	if a.Format != "" {
		line += "/" + a.Format
	}
	return strings.TrimSpace(line + " " + a.Expr)
}

// memoryText is a line of x: "=> 0x5555 <main+4>:\tmov ...".
var memoryText = regexp.MustCompile(`^(=> |   )?(0x[0-9a-f]+)(?: <([^>]*)>)?:\t?(.*)$`)

func memoryLine(line string) (row memoryRow, addr, value string) {
	found := memoryText.FindStringSubmatch(line)
	if found == nil {
		return memoryRow{}, "", line
	}
	row = memoryRow{Label: found[3], Here: found[1] == "=> "}
	return row, found[2], withoutAddresses(found[4])
}

// isFormat tells whether letters may stand behind a slash: a count, formats and
// sizes.
func isFormat(f string) bool {
	for i := range len(f) {
		if c := f[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' && i == 0) {
			return false
		}
	}
	return len(f) <= 16
}

func notAFormat(f string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(f) + " is not a format", Hint: "x, d, u, o, t, a, c, f, s, i; for x also a count and a size: 4xw"}
}

// countIn is the number in front of a format, 1 where there is none.
func countIn(f string) int {
	n, err := strconv.Atoi(strings.TrimRight(f, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 1
	}
	return n
}
