// Hashes of array blocks, by which ranks are compared without a transfer of elements.

package debugger

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/protocol"
	"sdm/protocol/digest"
)

// hashed is the body of hash. The hash of block K of span S is in column "S.K"; the
// value of a span of one element is in column "value.S".
type hashed struct {
	Expr  string          `json:"expr"`
	Size  int             `json:"size"` // of an element, in bytes
	Shape protocol.Shape  `json:"shape"`
	Spans []protocol.Span `json:"spans"` // as requested, or the whole array
}

// hashing is an answer under construction.
type hashing struct {
	q       *Request
	array   gdbtext.Array
	body    hashed
	columns *columns
	left    int // outstanding parts
	bad     *protocol.Fault
}

// block is a piece of memory to be hashed.
type block struct {
	column string
	inferior.Block
}

// MemoryRead has the loop hash memory of a stopped process.
type MemoryRead struct {
	PID    int
	Blocks []inferior.Block
	Into   io.Writer // if not nil, the first block is copied to it instead
	then   func(sums []uint64, err error)
}

// HaveRead processes the result of a memory read: the hashes of its blocks.
func (m *Machine) HaveRead(now time.Duration, o *MemoryRead, sums []uint64, err error) {
	m.now = now
	o.then(sums, err)
	m.settle()
}

func (m *Machine) hashArray(q *Request) {
	if q.args.Expr == "" {
		m.fail(q, noExpression())
		return
	}
	m.arrayOf(q, func(a gdbtext.Array, refusal *protocol.Fault) {
		switch {
		case refusal != nil && a.Parts:
			m.hashItems(q, false, refusal)
		case refusal == nil && a.Parts:
			m.pointsOn(q, a, func(deep bool) {
				if deep {
					m.hashItems(q, true, nil)
				} else {
					m.hashMemory(q, a, nil)
				}
			})
		default:
			m.hashMemory(q, a, refusal)
		}
	})
}

// hashMemory answers with hashes of the bytes of an array, or with the refusal.
func (m *Machine) hashMemory(q *Request, a gdbtext.Array, refusal *protocol.Fault) {
	h := &hashing{q: q, array: a, columns: columnsOf(m.Target.Rank, q.args.Limit)}
	h.body = hashed{Expr: q.args.Expr, Size: a.Size, Shape: a.Shape, Spans: q.args.Spans}
	whole := len(q.args.Spans) == 0
	if whole {
		h.body.Spans = []protocol.Span{{Last: a.Shape.Elements() - 1}}
	}
	switch {
	case refusal != nil:
	case a.Scattered:
		refusal = notSideBySide(q)
	default:
		refusal = h.outside()
	}
	if refusal != nil {
		m.fail(q, refusal)
		return
	}
	m.hashSpans(h, whole)
}

// pointsOn reports whether elements of an array are objects of the C++ library or have
// such members: their bytes do not tell whether they are equal.
func (m *Machine) pointsOn(q *Request, a gdbtext.Array, then func(bool)) {
	found := false
	k := m.ask(q, func(got answer) { found = strings.Contains(got.text, "std::") }, "-interpreter-exec", append(m.at(q), "console", "ptype/mt "+a.Item(0))...)
	k.print = true
	m.ask(q, func(got answer) {
		then(found || strings.Contains(got.Results.Str("value"), "std::"))
	}, "-data-evaluate-expression", append(m.at(q), gdbtext.Operand(a.Item(0)))...)
}

// hashItems compares the elements of a container, or of an array of objects, by what
// gdb prints; other values are refused. The first elements tell how many levels it has.
func (m *Machine) hashItems(q *Request, array bool, refusal *protocol.Fault) {
	w := gdbtext.ParsePrinting(q.args)
	if gdbtext.HasSideEffects(w.Expr, false) {
		m.fail(q, refusal)
		return
	}
	m.askPrint(q, w, w.Expr, func(got answer, value string) {
		items, _ := gdbtext.Items(value, array)
		switch {
		case !got.failed() && len(items) > 0:
			m.hashShown(q, w, array, mostItems[min(gdbtext.Depth(value), len(mostItems))-1])
		case refusal != nil:
			m.fail(q, refusal)
		default:
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "gdb does not show the elements of " + w.Expr})
		}
	}, "-elements 4")
}

// mostItems is how many elements gdb prints at each level of a value with one, two, or
// more levels; keys and values count separately.
var mostItems = []int{2 * mostContained, 1000, 100}

// leftOut matches where gdb has left out elements.
var leftOut = regexp.MustCompile(`\.\.\.(?:[},)]|$)`)

// hashShown is hashItems with a maximum number of elements at each level.
func (m *Machine) hashShown(q *Request, w gdbtext.Printing, array bool, most int) {
	m.askPrint(q, w, w.Expr, func(got answer, value string) {
		items, n := gdbtext.Items(value, array)
		switch {
		case got.failed():
			m.refused(q, got)
			return
		case n == 0 || leftOut.MatchString(value):
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: w.Expr + " is too large to be compared by element"})
			return
		}
		h := &hashing{q: q, columns: columnsOf(m.Target.Rank, q.args.Limit)}
		h.array.Size, h.array.Shape.Dims = 1, []protocol.Dim{{Count: len(items)}}
		h.body = hashed{Expr: q.args.Expr, Shape: h.array.Shape, Spans: q.args.Spans}
		whole := len(q.args.Spans) == 0
		if whole {
			h.body.Spans = []protocol.Span{{Last: len(items) - 1}}
		}
		if bad := h.outside(); bad != nil {
			m.fail(q, bad)
			return
		}
		for i, s := range h.body.Spans {
			if s.Len() == 1 && !whole {
				h.columns.add("value."+strconv.Itoa(i), gdbtext.Listed(items[s.First]))
				continue
			}
			for k, b := range s.Blocks() {
				sum := digest.New()
				for _, item := range items[b.First : b.Last+1] {
					sum.Add([]byte(item + "\x00"))
				}
				h.columns.add(fmt.Sprintf("%d.%d", i, k), digest.Text(sum.Sum()))
			}
		}
		m.reply(q, h.body, h.columns.sorted()...)
	}, fmt.Sprintf("-elements %d", most), "-repeats unlimited")
}

// mostHashed bounds what one hash reads, in bytes.
const mostHashed = 4 << 30

// outside refuses spans that exceed the array or the limits.
func (h *hashing) outside() *protocol.Fault {
	n, total := h.array.Shape.Elements(), 0
	for _, s := range h.body.Spans {
		if s.First < 0 || s.Last < s.First || s.Last >= n {
			return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("%s has no elements %d to %d: there are %d", h.body.Expr, s.First, s.Last, n)}
		}
		total += s.Len()
	}
	if n := len(h.body.Spans); n > protocol.MostSpans && (n > protocol.MostValues || total > n) {
		return &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("%d spans, at most %d can be asked for", len(h.body.Spans), protocol.MostSpans)}
	}
	if total > mostHashed/h.array.Size {
		return &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("%s has more than 4 GiB", h.body.Expr), Hint: "a part of it, such as " + h.body.Expr + "[0]@1000000"}
	}
	return nil
}

func (m *Machine) hashSpans(h *hashing, whole bool) {
	var blocks []block
	h.left = 1
	for i, s := range h.body.Spans {
		if s.Len() == 1 && !whole {
			h.left++
			m.ask(h.q, func(got answer) {
				if got.failed() && h.bad == nil {
					h.bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")}
				}
				h.columns.add("value."+strconv.Itoa(i), got.Results.Str("value"))
				m.hashedPart(h)
			}, "-data-evaluate-expression", append(m.at(h.q), gdbtext.Operand(h.array.Item(s.First)))...)
			continue
		}
		for k, b := range s.Blocks() {
			blocks = append(blocks, block{fmt.Sprintf("%d.%d", i, k), inferior.Block{Addr: h.array.Addr + uint64(b.First)*uint64(h.array.Size), Size: uint64(b.Len() * h.array.Size)}})
		}
	}
	if len(blocks) == 0 {
		m.hashedPart(h)
		return
	}
	m.whenOurs(h.q, func(ours bool) {
		if !ours {
			m.hashByGDB(h, blocks)
			return
		}
		o := &MemoryRead{PID: m.Target.PID}
		for _, b := range blocks {
			o.Blocks = append(o.Blocks, b.Block)
		}
		o.then = func(sums []uint64, err error) {
			switch {
			case h.q.answered: // the rank may have ended
				return
			case err != nil:
				m.hashByGDB(h, blocks)
				return
			}
			for i, b := range blocks {
				h.columns.add(b.column, digest.Text(sums[i]))
			}
			m.hashedPart(h)
		}
		m.Out.Reads = append(m.Out.Reads, o)
	})
}

// hashedPart counts a part of an answer; the last one completes it.
func (m *Machine) hashedPart(h *hashing) {
	if h.left--; h.left > 0 {
		return
	}
	if h.bad != nil {
		m.fail(h.q, h.bad)
		return
	}
	m.reply(h.q, h.body, h.columns.sorted()...)
}

// whenOurs reports whether gdb's inferior is the known process. Then its memory can be
// read without gdb, a hundred times faster. It is not for a core file, nor for a child
// that gdb has followed.
func (m *Machine) whenOurs(q *Request, then func(bool)) {
	m.ask(q, func(got answer) {
		for _, f := range got.Results.Path("groups").Fields {
			if f.Value.Fields.Str("id") == m.group && m.Target.PID > 0 {
				then(f.Value.Fields.Str("pid") == strconv.Itoa(m.Target.PID))
				return
			}
		}
		then(false)
	}, "-list-thread-groups")
}

const (
	// pieceOfGDB is how much gdb reads at a time, in bytes: 512 KiB of hexadecimal
	// digits.
	pieceOfGDB = 256 << 10
	// mostOfGDB bounds what is read in this way, in bytes; it takes about a second.
	mostOfGDB = 64 << 20
)

// hashByGDB reads the memory through gdb, if sdm must not read it itself.
func (m *Machine) hashByGDB(h *hashing, blocks []block) {
	var total uint64
	for _, b := range blocks {
		total += b.Size
	}
	if total > mostOfGDB {
		m.fail(h.q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "gdb alone can read this memory, and more than 64 MiB are too much for it", Hint: "a part of it, such as " + h.body.Expr + "[0]@1000000"})
		return
	}
	for i, b := range blocks {
		sum := digest.New()
		for done := uint64(0); done < b.Size; done += pieceOfGDB {
			n := min(uint64(pieceOfGDB), b.Size-done)
			m.ask(h.q, func(got answer) {
				if bad := copyMemory(hasher{sum}, got, int(n)); bad != nil && h.bad == nil {
					h.bad = bad
				}
				if done+n < b.Size {
					return
				}
				h.columns.add(b.column, digest.Text(sum.Sum()))
				if i == len(blocks)-1 {
					m.hashedPart(h)
				}
			}, "-data-read-memory-bytes", append(m.at(h.q), fmt.Sprintf("0x%x", b.Addr+done), strconv.FormatUint(n, 10))...)
		}
	}
}
