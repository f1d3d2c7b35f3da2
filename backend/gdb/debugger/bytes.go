// Memory as bytes: read, written, dumped to files.

package debugger

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
)

// mostBytes bounds one memory read or write, in bytes.
const mostBytes = 64 << 10

// dumped is the body of dump memory; column "file" has the name of each rank's file.
type dumped struct {
	File string `json:"file"`
}

// dumpMemory has gdb write the file on the host of the rank. gdb accepts no file name
// with a blank.
func (m *Machine) dumpMemory(q *Request) {
	a := q.args
	file := strings.ReplaceAll(a.File, "%r", strconv.Itoa(int(m.Target.Rank)))
	if file == a.File {
		file += "." + strconv.Itoa(int(m.Target.Rank))
	}
	if a.File == "" || strings.ContainsAny(file, " \t\n\"'\\") {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(a.File) + " cannot be the name of a dump", Hint: "a path without blanks and quotes; %r stands for the rank"})
		return
	}
	// Blanks would separate the expressions.
	from, to := "("+a.From+")", "("+a.To+")"
	m.inConsole(q, fmt.Sprintf("dump binary memory %s %s %s", file, from, to), func(string) {
		c := columnsOf(m.Target.Rank, a.Limit)
		c.add("file", file)
		m.reply(q, dumped{a.File}, c.sorted()...)
	})
}

// memoryBytes is the body of memory read; columns "addr" and "data", in hexadecimal.
// Unreadable bytes after the first readable ones are left out.
type memoryBytes struct {
	Expr  string `json:"expr"`
	Count int    `json:"count"`
}

func (m *Machine) readMemory(q *Request) {
	if q.args.Count < 1 || q.args.Count > mostBytes {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("1 to %d bytes can be read at once", mostBytes), Hint: "dump memory writes more to a file"})
		return
	}
	m.ask(q, func(a answer) {
		if a.failed() {
			m.refused(q, a)
			return
		}
		c := columnsOf(m.Target.Rank, q.args.Limit)
		pieces := a.Results.Path("memory").Fields
		if len(pieces) == 0 {
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Unable to read memory."})
			return
		}
		c.add("addr", pieces[0].Value.Fields.Str("begin"))
		c.add("data", pieces[0].Value.Fields.Str("contents"))
		m.reply(q, memoryBytes{q.args.Expr, q.args.Count}, c.sorted()...)
	}, "-data-read-memory-bytes", append(m.at(q), q.args.Expr, strconv.Itoa(q.args.Count))...)
}

func (m *Machine) writeMemory(q *Request) {
	if n := len(q.args.Data); n < 1 || n > mostBytes {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("1 to %d bytes can be written at once", mostBytes)})
		return
	}
	m.ask(q, m.thenDone(q), "-data-write-memory-bytes", append(m.at(q), q.args.Expr, hex.EncodeToString(q.args.Data))...)
}
