// Encoding of a graph.
//
//	graph = list(comm) list(call) list(edge) list(doing) unexpected numbers moved cut doubt unheld coarse
//	unexpected = list(edge);  numbers = list(lane);  moved, cut, doubt, unheld = set;  coarse = uvarint
//	list  = uvarint(rows) row...
//	comm  = text(key) text(name) set set                             members, remote
//	call  = text(comm) text(function) varint(root) varint(bytes) text(op) set
//	edge  = text(comm) text(function) uvarint(need<<1 | send) varint(tag) text(object) list(lane)
//	lane  = uvarint(runs) run...
//	run   = uvarint(gap) uvarint(count<<1 | step) varint(peer - peer of the run before)
//	doing = thread uvarint(calls) uvarint(left) list(thread) set
//	thread = uvarint(number) text(name) uvarint(state) text(frames) text(does) text(detail) uvarint(for<<1 | lock)
//	text  = uvarint(length) bytes;  set = uvarint(bytes) rank set
//
// Gap is the number of ranks between the run before and this one. The encoding of a graph is unique,
// and other encodings are refused: equal graphs are equal bytes.

package wait

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

// AppendWire appends the encoding of the graph to b; nil is the graph of no rank.
func (g *Graph) AppendWire(b []byte) []byte {
	if g == nil {
		g = &Graph{}
	}
	b = appendRows(b, g.comms, func(b []byte, c *Comm) []byte {
		b = appendText(appendText(b, c.Key), c.Name)
		return appendSet(appendSet(b, c.Members), c.Remote)
	})
	b = appendRows(b, g.calls, func(b []byte, c *Call) []byte {
		b = appendText(appendText(b, c.Comm), c.Function)
		b = binary.AppendVarint(b, int64(c.Root))
		b = binary.AppendVarint(b, int64(c.Bytes))
		return appendSet(appendText(b, c.Op), c.Ranks)
	})
	b = appendRows(b, g.edges, appendEdge)
	b = appendRows(b, g.doings, func(b []byte, d *Doing) []byte {
		first := d.First()
		b = binary.AppendUvarint(appendThread(b, &first), uint64(d.Calls))
		b = appendRows(binary.AppendUvarint(b, uint64(d.Left)), d.Others, appendThread)
		return appendSet(b, d.Ranks)
	})
	b = appendPairs(appendRows(b, g.unexpected, appendEdge), g.numbers)
	b = appendSet(appendSet(appendSet(appendSet(b, g.moved), g.cut), g.doubt), g.unheld)
	return binary.AppendUvarint(b, bit(g.coarse))
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

func appendRows[T any](b []byte, rows []T, one func([]byte, *T) []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(rows)))
	for i := range rows {
		b = one(b, &rows[i])
	}
	return b
}

func appendEdge(b []byte, e *Edge) []byte {
	b = appendText(appendText(b, e.Comm), e.Function)
	bits := uint64(e.Need) << 1
	if e.Send {
		bits |= 1
	}
	b = appendText(binary.AppendVarint(binary.AppendUvarint(b, bits), int64(e.Tag)), e.Object)
	return appendPairs(b, e.Pairs)
}

func appendPairs(b []byte, p Pairs) []byte {
	return appendRows(b, p.lanes, func(b []byte, lane *[]Run) []byte { return appendRuns(b, *lane) })
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendSet(b []byte, s rank.Set) []byte {
	if s.IsEmpty() {
		return append(b, 0)
	}
	set := s.AppendWire(nil)
	return append(binary.AppendUvarint(b, uint64(len(set))), set...)
}

func appendRuns(b []byte, runs []Run) []byte {
	b = binary.AppendUvarint(b, uint64(len(runs)))
	next, peer := rank.ID(0), 0
	for _, r := range runs {
		b = binary.AppendUvarint(b, uint64(r.First-next))
		b = binary.AppendUvarint(b, uint64(r.Count)<<1|uint64(r.Step))
		b = binary.AppendVarint(b, int64(r.Peer-peer))
		next, peer = r.Last()+1, r.Peer
	}
	return b
}

// reader decodes the parts of a graph.
type reader struct{ decode.Reader }

// rows decodes a list. Each row has at least least bytes, which bounds the memory that is allocated.
func rows[T any](r *reader, least int, one func(*T)) (list []T) {
	n := r.Uvarint()
	if n > uint64(len(r.Rest)/least) {
		r.Fail(decode.ErrShort)
		return nil
	}
	list = make([]T, 0, n)
	for range n {
		var row T
		if one(&row); r.Err != nil {
			return nil
		}
		list = append(list, row)
	}
	if n == 0 {
		return nil
	}
	return list
}

func (r *reader) text() string {
	s := r.String()
	if len(s) > maxText || !utf8.ValidString(s) {
		r.Fail(errors.New("a text is too long or not UTF-8"))
	}
	return s
}

// set decodes a set, which may be empty.
func (r *reader) set() rank.Set {
	b := r.Take(r.Uvarint())
	if len(b) == 0 {
		return rank.Set{}
	}
	s, rest, err := rank.DecodeWire(b)
	switch {
	case err != nil:
		r.Fail(err)
	case len(rest) > 0 || s.IsEmpty():
		r.Fail(errors.New("a rank set has the wrong length"))
	}
	return s
}

// number decodes a number from least to math.MaxInt32.
func (r *reader) number(least int64) int {
	v := r.Varint()
	if v < least || v > math.MaxInt32 {
		r.Fail(fmt.Errorf("a number is %d", v))
		return 0
	}
	return int(v)
}

// Least sizes of rows in bytes.
const (
	leastRow  = 4
	leastLane = 1
	leastRun  = 3

	leastThread = 7
)

// Decode decodes one graph from the front of b and returns the remaining bytes. It keeps no
// reference to b.
func Decode(b []byte) (g *Graph, rest []byte, err error) {
	r := &reader{decode.Reader{Rest: b}}
	g = &Graph{}
	g.comms = rows(r, leastRow, func(c *Comm) {
		c.Key, c.Name, c.Members, c.Remote = r.text(), r.text(), r.set(),
			r.set()
	})
	g.calls = rows(r, leastRow, func(c *Call) {
		c.Comm, c.Function, c.Root, c.Bytes, c.Op, c.Ranks = r.text(), r.text(), r.number(No), r.bytes(), r.text(), r.set()
	})
	g.edges = rows(r, leastRow, r.edge)
	g.doings = rows(r, leastRow, func(d *Doing) {
		d.setFirst(r.thread())
		d.Calls, d.Left = r.Number("count of calls", decode.MaxCount), r.Number("time", math.MaxInt32)
		d.Others = rows(r, leastThread, func(t *Thread) { *t = r.thread() })
		d.Ranks = r.set()
	})
	g.unexpected = rows(r, leastRow, r.edge)
	g.numbers = r.pairs()
	g.moved, g.cut, g.doubt, g.unheld = r.set(), r.set(), r.set(), r.set()
	g.coarse = r.Number("coarse", 1) == 1
	if r.Err == nil {
		r.Err = g.check()
	}
	if n := len(b) - len(r.Rest); r.Err == nil && !bytes.Equal(g.AppendWire(make([]byte, 0, n)), b[:n]) {
		r.Err = errors.New("not in canonical form")
	}
	if r.Err != nil {
		return nil, nil, fmt.Errorf("wait graph: %w", r.Err)
	}
	return g, r.Rest, nil
}

// bytes decodes a size, which may have more than 32 bits.
func (r *reader) bytes() int {
	v := r.Varint()
	if v < No {
		r.Fail(fmt.Errorf("a size is %d", v))
	}
	return int(v)
}

func (r *reader) edge(e *Edge) {
	e.Comm, e.Function = r.text(), r.text()
	bits := r.Number("need", int(needs)<<1-1)
	e.Need, e.Send = Need(bits>>1), bits&1 != 0
	e.Tag, e.Object = r.number(Unknown), r.text()
	e.Pairs = r.pairs()
}

func (r *reader) pairs() (p Pairs) {
	p.lanes = rows(r, leastLane, func(lane *[]Run) {
		next, peer := rank.ID(0), 0
		*lane = rows(r, leastRun, func(x *Run) {
			x.First = next + rank.ID(r.Number("gap", int(rank.MaxID)))
			bits := r.Number("count", int(rank.MaxID+1)<<1|1)
			x.Count, x.Step = bits>>1, bits&1
			if x.Peer = peer + r.number(-math.MaxInt32); r.Err == nil && !x.isValid() {
				r.Fail(errors.New("a run is not valid"))
				return
			}
			next, peer = x.Last()+1, x.Peer
		})
	})
	return p
}

// check returns an error if the rows of a decoded graph are not in order, or their ranks are not consistent.
func (g *Graph) check() error {
	ok := ascends(g.comms, (*Comm).compare) && ascends(g.calls, (*Call).compare) &&
		ascends(g.edges, (*Edge).compare) && ascends(g.doings, (*Doing).compare) && ascends(g.unexpected, (*Edge).compare)
	if !ok {
		return errors.New("rows are out of order")
	}
	all, n := g.Ranks(), 0
	for _, d := range g.doings {
		if n += d.Ranks.Len(); d.Ranks.IsEmpty() || n > all.Len() {
			return errors.New("a rank does several things, or none")
		}
		if len(d.Others) > MaxThreads || !slices.IsSortedFunc(d.Others,
			func(a, b Thread) int { return a.Number - b.Number }) {
			return errors.New("the threads of a rank are not in order")
		}
		if g.coarse && (d.Does != "" || d.Detail != "" || d.For != 0 || d.Lock || d.Left != 0 || len(d.Others) > 0) {
			return errors.New("a row has details that it must not have")
		}
	}
	within := func(s rank.Set) bool { return s.Minus(all).IsEmpty() }
	for _, c := range g.calls {
		if c.Ranks.IsEmpty() || !within(c.Ranks) {
			return errors.New("a call has the wrong ranks")
		}
	}
	for _, e := range slices.Concat(g.edges, g.unexpected) {
		if err := e.Pairs.check(); err != nil {
			return err
		}
		if !within(e.Pairs.Ranks()) {
			return errors.New("an edge has the wrong ranks")
		}
	}
	if p := g.numbers; !p.IsEmpty() && (p.check() != nil || len(p.lanes) > 1 || !within(p.Ranks()) || !p.areRanks()) {
		return errors.New("numbers are not those of the ranks")
	}
	if !within(g.moved) || !within(g.cut) || !within(g.doubt) || !within(g.unheld) {
		return errors.New("a set has the wrong ranks")
	}
	return nil
}

// ascends reports whether rows are in strictly ascending order.
func ascends[T any](rows []T, compare func(*T, *T) int) bool {
	for i := 1; i < len(rows); i++ {
		if compare(&rows[i-1], &rows[i]) >= 0 {
			return false
		}
	}
	return true
}

// check returns an error if the lanes are not in canonical form.
func (p Pairs) check() error {
	if len(p.lanes) == 0 {
		return errors.New("an edge has no ranks")
	}
	for k, lane := range p.lanes {
		var again []Run
		for _, r := range lane {
			again = extend(again, r)
		}
		if len(lane) == 0 || !slices.Equal(again, lane) {
			return errors.New("runs are not as long as they can be")
		}
		if k > 0 && !follows(p.lanes[k-1], lane) {
			return errors.New("peers of a rank do not ascend")
		}
	}
	return nil
}

// follows reports whether each rank of a lane is in the lane before, with a lower peer.
func follows(before, lane []Run) bool {
	i := 0
	for _, r := range lane {
		for at := r.First; at <= r.Last(); {
			for i < len(before) && before[i].Last() < at {
				i++
			}
			if i == len(before) || before[i].First > at {
				return false
			}
			last := min(before[i].Last(), r.Last()) // up to last, the peers of both runs are linear
			if before[i].Of(at) >= r.Of(at) || before[i].Of(last) >= r.Of(last) {
				return false
			}
			at = last + 1
		}
	}
	return true
}
