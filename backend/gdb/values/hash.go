// Hashes of array blocks, by which ranks are compared without a transfer of elements.

package values

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/digest"
	"sdm/protocol/pattern"
	"sdm/protocol/sideeffect"
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
	q       *request.Request
	array   gdbtext.Array
	body    hashed
	columns *Columns
	left    int // outstanding parts
	bad     *protocol.Fault
}

// block is a piece of memory to be hashed.
type block struct {
	column string
	inferior.Block
}

// MemoryRead asks the host to hash memory of a stopped process. Then is called when that is done, by the
// goroutine of the rank.
type MemoryRead struct {
	PID    int
	Blocks []inferior.Block
	Into   io.Writer // if not nil, the first block is copied to it instead
	Then   func(sums []uint64, err error)
}

func (ah *hasher) hashArray(q *request.Request) {
	if q.Args.Expr == "" {
		ah.Fail(q, NoExpression())
		return
	}
	ah.arrays.arrayOf(q, func(a gdbtext.Array, refusal *protocol.Fault) {
		switch {
		case refusal != nil && a.OfObjects:
			ah.hashItems(q, false, refusal)
		case refusal == nil && a.OfObjects:
			ah.hasObjects(q, a, func(has bool) {
				if has {
					ah.hashItems(q, true, nil)
				} else {
					ah.hashMemory(q, a, nil)
				}
			})
		default:
			ah.hashMemory(q, a, refusal)
		}
	})
}

// hashMemory answers with hashes of the bytes of an array, or with the refusal.
func (ah *hasher) hashMemory(q *request.Request, a gdbtext.Array, refusal *protocol.Fault) {
	h := &hashing{q: q, array: a, columns: ColumnsOf(ah.Process().Rank, q.Args.Limit)}
	h.body = hashed{Expr: q.Args.Expr, Size: a.Size, Shape: a.Shape, Spans: q.Args.Spans}
	whole := len(q.Args.Spans) == 0
	if whole {
		h.body.Spans = []protocol.Span{{Last: a.Shape.Elements() - 1}}
	}
	switch {
	case refusal != nil:
	case a.Scattered:
		refusal = notContiguous(q)
	default:
		refusal = h.outside()
	}
	if refusal != nil {
		ah.Fail(q, refusal)
		return
	}
	ah.hashSpans(h, whole)
}

// hasObjects calls then with whether elements of an array are objects of the C++ library or have such
// members: equality of their bytes does not decide whether they are equal.
func (ah *hasher) hasObjects(q *request.Request, a gdbtext.Array, then func(bool)) {
	found := false
	k := ah.Ask(q, func(got request.Answer) { found = strings.Contains(got.Text, "std::") }, "-interpreter-exec",
		append(ah.At(q), "console", "ptype/mt "+a.Item(0))...)
	k.Print = true
	ah.Ask(q, func(got request.Answer) {
		then(found || strings.Contains(got.Results.Str("value"), "std::"))
	}, "-data-evaluate-expression", append(ah.At(q), gdbtext.Operand(a.Item(0)))...)
}

// hashItems answers with hashes of the texts that gdb prints for the elements of a container or of an
// array of objects; other values are refused. It first asks for a few elements, to know how many levels
// the value has.
func (ah *hasher) hashItems(q *request.Request, array bool, refusal *protocol.Fault) {
	w := gdbtext.ParsePrinting(q.Args)
	if sideeffect.Of(w.Expr, false) {
		ah.Fail(q, refusal)
		return
	}
	ah.Printer.askPrint(q, w, w.Expr, func(got request.Answer, value string) {
		items, _ := gdbtext.Items(value, array)
		switch {
		case !got.Failed() && len(items) > 0:
			ah.hashShown(q, w, array, maxItems[min(gdbtext.Depth(value), len(maxItems))-1])
		case refusal != nil:
			ah.Fail(q, refusal)
		default:
			ah.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "gdb does not show the elements of " + w.Expr})
		}
	}, "-elements 4")
}

// maxItems is how many elements gdb prints at each level of a value with one, two, or
// more levels; keys and values count separately.
var maxItems = []int{2 * maxContained, 1000, 100}

// leftOut matches where gdb has left out elements.
var leftOut = pattern.New(`\.\.\.(?:[},)]|$)`)

// hashShown is hashItems with a maximum number of elements at each level.
func (ah *hasher) hashShown(q *request.Request, w gdbtext.Printing, array bool, most int) {
	ah.Printer.askPrint(q, w, w.Expr, func(got request.Answer, value string) {
		items, n := gdbtext.Items(value, array)
		switch {
		case got.Failed():
			ah.Refused(q, got)
			return
		case n == 0 || leftOut.MatchString(value):
			ah.Fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: w.Expr + " is too large to be compared by element"})
			return
		}
		h := &hashing{q: q, columns: ColumnsOf(ah.Process().Rank, q.Args.Limit)}
		h.array.Size, h.array.Shape.Dims = 1, []protocol.Dim{{Count: len(items)}}
		h.body = hashed{Expr: q.Args.Expr, Shape: h.array.Shape, Spans: q.Args.Spans}
		whole := len(q.Args.Spans) == 0
		if whole {
			h.body.Spans = []protocol.Span{{Last: len(items) - 1}}
		}
		if bad := h.outside(); bad != nil {
			ah.Fail(q, bad)
			return
		}
		for i, s := range h.body.Spans {
			if s.Len() == 1 && !whole {
				h.columns.Add("value."+strconv.Itoa(i), gdbtext.Listed(items[s.First]))
				continue
			}
			for k, b := range s.Blocks() {
				sum := digest.New()
				for _, item := range items[b.First : b.Last+1] {
					sum.Add([]byte(item + "\x00"))
				}
				h.columns.Add(fmt.Sprintf("%d.%d", i, k), digest.Text(sum.Sum()))
			}
		}
		ah.Reply(q, h.body, h.columns.Sorted()...)
	}, fmt.Sprintf("-elements %d", most), "-repeats unlimited")
}

// maxHashed bounds what one hash reads, in bytes.
const maxHashed = 4 << 30

// outside refuses spans that exceed the array or the limits.
func (h *hashing) outside() *protocol.Fault {
	n, total := h.array.Shape.Elements(), 0
	for _, s := range h.body.Spans {
		if s.First < 0 || s.Last < s.First || s.Last >= n {
			return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("%s has no elements %d to %d: there are %d", h.body.Expr, s.First, s.Last, n)}
		}
		total += s.Len()
	}
	if n := len(h.body.Spans); n > protocol.MaxSpans && (n > protocol.MaxValues || total > n) {
		return &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("%d spans, at most %d can be asked for", len(h.body.Spans), protocol.MaxSpans)}
	}
	if total > maxHashed/h.array.Size {
		return &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("%s has more than 4 GiB", h.body.Expr), Hint: "a part of it, such as " + h.body.Expr + "[0]@1000000"}
	}
	return nil
}

func (ah *hasher) hashSpans(h *hashing, whole bool) {
	var blocks []block
	h.left = 1
	for i, s := range h.body.Spans {
		if s.Len() == 1 && !whole {
			h.left++
			ah.Ask(h.q, func(got request.Answer) {
				if got.Failed() && h.bad == nil {
					h.bad = &protocol.Fault{Kind: protocol.FaultGDB, Message: got.Results.Str("msg")}
				}
				h.columns.Add("value."+strconv.Itoa(i), got.Results.Str("value"))
				ah.hashedPart(h)
			}, "-data-evaluate-expression", append(ah.At(h.q), gdbtext.Operand(h.array.Item(s.First)))...)
			continue
		}
		for k, b := range s.Blocks() {
			blocks = append(blocks, block{fmt.Sprintf("%d.%d", i, k),
				inferior.Block{Addr: h.array.Addr + uint64(b.First)*uint64(h.array.Size), Size: uint64(b.Len() * h.array.Size)}})
		}
	}
	if len(blocks) == 0 {
		ah.hashedPart(h)
		return
	}
	ah.arrays.ifKnownProcess(h.q, func(ours bool) {
		if !ours {
			ah.hashByGDB(h, blocks)
			return
		}
		o := &MemoryRead{PID: ah.Process().PID}
		for _, b := range blocks {
			o.Blocks = append(o.Blocks, b.Block)
		}
		o.Then = func(sums []uint64, err error) {
			switch {
			case h.q.Answered: // the rank may have ended
				return
			case err != nil:
				ah.hashByGDB(h, blocks)
				return
			}
			for i, b := range blocks {
				h.columns.Add(b.column, digest.Text(sums[i]))
			}
			ah.hashedPart(h)
		}
		ah.Read(o)
	})
}

// hashedPart counts a part of an answer; the last one completes it.
func (ah *hasher) hashedPart(h *hashing) {
	if h.left--; h.left > 0 {
		return
	}
	if h.bad != nil {
		ah.Fail(h.q, h.bad)
		return
	}
	ah.Reply(h.q, h.body, h.columns.Sorted()...)
}

// ifKnownProcess calls then with whether gdb's inferior is the process of the rank, whose memory can then
// be read without gdb, a hundred times faster. It is not if the rank is a core file, or if gdb has followed
// a child.
func (ar *arrays) ifKnownProcess(q *request.Request, then func(bool)) {
	ar.Ask(q, func(got request.Answer) {
		for _, f := range got.Results.Path("groups").Fields {
			if f.Value.Fields.Str("id") == ar.ThreadGroup() && ar.Process().PID > 0 {
				then(f.Value.Fields.Str("pid") == strconv.Itoa(ar.Process().PID))
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
	// maxOfGDB bounds what is read in this way, in bytes; it takes about a second.
	maxOfGDB = 64 << 20
)

// hashByGDB reads the memory through gdb, if sdm must not read it itself.
func (ah *hasher) hashByGDB(h *hashing, blocks []block) {
	var total uint64
	for _, b := range blocks {
		total += b.Size
	}
	if total > maxOfGDB {
		ah.Fail(h.q, &protocol.Fault{Kind: protocol.FaultGDB, Message: "gdb alone can read this memory, and more than 64 MiB are too much for it", Hint: "a part of it, such as " + h.body.Expr + "[0]@1000000"})
		return
	}
	for i, b := range blocks {
		sum := digest.New()
		for done := uint64(0); done < b.Size; done += pieceOfGDB {
			n := min(uint64(pieceOfGDB), b.Size-done)
			ah.Ask(h.q, func(got request.Answer) {
				if bad := copyMemory(hashWriter{sum}, got, int(n)); bad != nil && h.bad == nil {
					h.bad = bad
				}
				if done+n < b.Size {
					return
				}
				h.columns.Add(b.column, digest.Text(sum.Sum()))
				if i == len(blocks)-1 {
					ah.hashedPart(h)
				}
			}, "-data-read-memory-bytes", append(ah.At(h.q), fmt.Sprintf("0x%x", b.Addr+done), strconv.FormatUint(n, 10))...)
		}
	}
}
