// The whole content of an array whose elements are shown in part: its hash or its
// statistics.

package values

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/digest"
)

// maxCompared bounds the arrays that print compares as a whole, in bytes; it takes a
// tenth of a second.
const maxCompared = 256 << 20

// replyPage answers with elements of an array. If these are the first, it adds a hash
// of all, so that ranks that differ in elements that are not shown are not merged.
func (p *Printer) replyPage(q *request.Request, a gdbtext.Array, body Printed, value string) {
	if body.First > 0 || body.Elements <= body.Last+1 || !a.Kind.Comparable(a.Size) || a.Scattered ||
		a.Bytes() > maxCompared {
		p.replyValue(q, body, value)
		return
	}
	sum := digest.New()
	p.readArray(q, a, hashWriter{sum}, func(bad *protocol.Fault) {
		c := ColumnsOf(p.Process().Rank, q.Args.Limit)
		c.Add("value", q.Head+value)
		if bad == nil {
			c.Add("hash", digest.Text(sum.Sum()))
		}
		p.ReplyWith(q, q.BodyOf(body), c.Sorted())
	})
}

// hashWriter hashes what is written to it.
type hashWriter struct{ digest.Running }

func (h hashWriter) Write(b []byte) (int, error) {
	h.Add(b)
	return len(b), nil
}

// readArray writes the memory of an array to into, read without gdb if possible.
func (p *Printer) readArray(q *request.Request, a gdbtext.Array, into io.Writer, then func(bad *protocol.Fault)) {
	p.arrays.ifKnownProcess(q, func(ours bool) {
		if !ours {
			p.readByGDB(q, a, into, then)
			return
		}
		p.Read(&MemoryRead{
			PID: p.Process().PID, Blocks: []inferior.Block{{Addr: a.Addr, Size: uint64(a.Bytes())}}, Into: into,
			Then: func(_ []uint64, err error) {
				switch {
				case q.Answered: // the rank may have ended
				case err != nil:
					then(&protocol.Fault{Kind: protocol.FaultGDB, Message: "the memory of " + q.Args.Expr + " cannot be read: " + err.Error()})
				default:
					then(nil)
				}
			},
		})
	})
}

// readByGDB reads the memory through gdb, in pieces.
func (p *Printer) readByGDB(q *request.Request, a gdbtext.Array, into io.Writer, then func(bad *protocol.Fault)) {
	if a.Bytes() > maxOfGDB {
		then(&protocol.Fault{Kind: protocol.FaultGDB, Message: "gdb alone can read this memory, and more than 64 MiB are too much for it"})
		return
	}
	var bad *protocol.Fault
	for done := 0; done < a.Bytes(); done += pieceOfGDB {
		n := min(pieceOfGDB, a.Bytes()-done)
		p.Ask(q, func(got request.Answer) {
			if bad == nil {
				bad = copyMemory(into, got, n)
			}
			if done+n == a.Bytes() {
				then(bad)
			}
		}, "-data-read-memory-bytes", append(p.At(q), fmt.Sprintf("0x%x", a.Addr+uint64(done)), strconv.Itoa(n))...)
	}
}

// copyMemory writes one answer of gdb, which must hold n bytes.
func copyMemory(into io.Writer, got request.Answer, n int) *protocol.Fault {
	if got.Failed() {
		return &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")}
	}
	have := 0
	for _, f := range got.Results.Path("memory").Fields {
		b, err := hex.DecodeString(f.Value.Fields.Str("contents"))
		if err != nil {
			break
		}
		into.Write(b)
		have += len(b)
	}
	if have != n {
		return &protocol.Fault{Kind: protocol.FaultGDB, Message: "Unable to read memory."}
	}
	return nil
}

// counted is the body of print for statistics of an array. Columns are "min", "max" and
// "mean" of the finite elements of each rank, "minat" and "maxat", their indices, "nan"
// and "inf", the number of such elements, and "nanat", the index of the first NaN;
// empty if there is no such element.
type counted struct {
	Expr     string         `json:"expr"`
	Elements int            `json:"elements"`
	Shape    protocol.Shape `json:"shape"`
}

// mayHoldElements reports whether a value may be an array of numbers.
func mayHoldElements(value string) bool {
	return value != "" && (value[0] == '{' || value[0] == '(' || strings.HasPrefix(value, "std::") &&
		strings.Contains(value, "{"))
}

// countArray answers with the statistics of an array of numbers; for other values it calls otherwise.
func (p *Printer) countArray(q *request.Request, otherwise func()) {
	p.arrays.arrayOf(q, func(a gdbtext.Array, refusal *protocol.Fault) {
		if refusal != nil || a.Scattered || !a.Kind.Countable(a.Size) || a.Bytes() > maxHashed {
			otherwise()
			return
		}
		s := &numbers{kind: a.Kind, size: a.Size}
		p.readArray(q, a, s, func(bad *protocol.Fault) {
			if bad != nil {
				p.Fail(q, bad)
				return
			}
			p.replyCounted(q, a, s)
		})
	})
}

func (p *Printer) replyCounted(q *request.Request, a gdbtext.Array, s *numbers) {
	c := ColumnsOf(p.Process().Rank, q.Args.Limit)
	c.Add("nan", strconv.Itoa(s.nan))
	c.Add("inf", strconv.Itoa(s.inf))
	index := func(n, at int) string { // an empty text: all ranks must have the same columns
		if n == 0 {
			return ""
		}
		return a.Shape.Index(at)
	}
	c.Add("nanat", index(s.nan, s.nanAt))
	c.Add("minat", index(s.finite, s.min.at))
	c.Add("maxat", index(s.finite, s.max.at))
	mean := ""
	if s.finite > 0 {
		mean = strconv.FormatFloat(s.mean(), 'g', 17, 64)
	}
	c.Add("min", s.min.text)
	c.Add("max", s.max.text)
	c.Add("mean", mean)
	p.Reply(q, counted{q.Args.Expr, a.Shape.Elements(), a.Shape}, c.Sorted()...)
}
