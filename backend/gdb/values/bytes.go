// Memory as bytes: read, written, dumped to files.

package values

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// maxBytes bounds one memory read or write, in bytes.
const maxBytes = 64 << 10

// dumped is the body of dump memory; column "file" has the name of each rank's file.
type dumped struct {
	File string `json:"file"`
}

// dumpMemory makes gdb write the file on the host of the rank. gdb accepts no file name
// with a blank.
func (p *Printer) dumpMemory(q *request.Request) {
	a := q.Args
	file := gdbtext.NewRankFile(a.File, p.Process().Rank).Name
	if a.File == "" || strings.ContainsAny(file, " \t\n\"'\\") {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(a.File) + " cannot be the name of a dump", Hint: "a path without blanks and quotes; %r stands for the rank"})
		return
	}
	// Blanks would separate the expressions.
	from, to := "("+a.From+")", "("+a.To+")"
	p.InConsole(q, fmt.Sprintf("dump binary memory %s %s %s", file, from, to), func(string) {
		c := ColumnsOf(p.Process().Rank, a.Limit)
		c.Add("file", file)
		p.Reply(q, dumped{a.File}, c.Sorted()...)
	})
}

// memoryBytes is the body of memory read; columns "addr" and "data", in hexadecimal.
// Unreadable bytes after the first readable ones are left out.
type memoryBytes struct {
	Expr  string `json:"expr"`
	Count int    `json:"count"`
}

func (p *Printer) readMemory(q *request.Request) {
	if q.Args.Count < 1 || q.Args.Count > maxBytes {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("1 to %d bytes can be read at once", maxBytes), Hint: "dump memory writes more to a file"})
		return
	}
	p.Ask(q, func(a request.Answer) {
		if a.Failed() {
			p.Refused(q, a)
			return
		}
		c := ColumnsOf(p.Process().Rank, q.Args.Limit)
		pieces := a.Results.Path("memory").Fields
		if len(pieces) == 0 {
			p.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "Unable to read memory."})
			return
		}
		c.Add("addr", pieces[0].Value.Fields.Str("begin"))
		c.Add("data", pieces[0].Value.Fields.Str("contents"))
		p.Reply(q, memoryBytes{q.Args.Expr, q.Args.Count}, c.Sorted()...)
	}, "-data-read-memory-bytes", append(p.At(q), q.Args.Expr, strconv.Itoa(q.Args.Count))...)
}

func (p *Printer) writeMemory(q *request.Request) {
	if n := len(q.Args.Data); n < 1 || n > maxBytes {
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("1 to %d bytes can be written at once", maxBytes)})
		return
	}
	p.Ask(q, p.ThenDone(q), "-data-write-memory-bytes", append(p.At(q), q.Args.Expr, hex.EncodeToString(q.Args.Data))...)
}
