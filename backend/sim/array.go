// Arrays: variables of the configuration with elements.

package sim

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/digest"
)

const (
	// maxElements bounds an array, and so the time of one command.
	maxElements = 10_000_000
	// shownElements is how many elements of an array print shows, as in gdb.
	shownElements = 200
	// elementSize is the size of an element in bytes, as if it were in memory.
	elementSize = 8
)

// printArray prints a whole array, or some of its elements.
func (m *machine) printArray(sc scope, array int, a *protocol.Args) (answer, *protocol.Fault) {
	n := sc.globals[array].Elements
	span := protocol.Span{First: a.First, Last: min(a.First+shownElements, n) - 1}
	if a.Last > 0 {
		span.Last = min(span.Last, a.Last)
	}
	if span.First < 0 || span.Last < span.First {
		return answer{}, gdbSays("There are only %d elements.", n)
	}
	text, bad := sc.text(array, span)
	if bad != nil {
		return answer{}, bad
	}
	body := struct {
		Expr     string `json:"expr"`
		Elements int    `json:"elements,omitempty"`
		First    int    `json:"first,omitempty"`
		Last     int    `json:"last,omitempty"`
	}{Expr: a.Expr}
	if span.Len() < n {
		body.Elements, body.First, body.Last = n, span.First, span.Last
	}
	return answer{kind: protocol.KindResult, body: canonical.JSON(body), cells: []cell{{"value", text}}}, nil
}

// hash returns hashes of the blocks of an array, as the gdb back end does.
func (m *machine) hash(s *state, a *protocol.Args) (answer, *protocol.Fault) {
	level, bad := m.level(s, a)
	if bad != nil {
		return answer{}, bad
	}
	sc := m.scope(s, level)
	array, ok := sc.arrayNamed(a.Expr)
	if !ok {
		return answer{}, gdbSays("%s is not an array", a.Expr)
	}
	n := sc.globals[array].Elements
	spans, whole := a.Spans, len(a.Spans) == 0
	if whole {
		spans = []protocol.Span{{Last: n - 1}}
	}
	if len(spans) > protocol.MaxSpans {
		return answer{}, &protocol.Fault{Kind: protocol.FaultUsage, Message: fmt.Sprintf("%d spans, at most %d can be asked for", len(spans), protocol.MaxSpans)}
	}
	var cells []cell
	for i, span := range spans {
		if span.First < 0 || span.Last < span.First || span.Last >= n {
			return answer{}, gdbSays("%s has no elements %d to %d: there are %d", a.Expr, span.First, span.Last, n)
		}
		if span.Len() == 1 && !whole {
			v, bad := sc.element(array, int64(span.First))
			if bad != nil {
				return answer{}, bad
			}
			cells = append(cells, cell{"value." + strconv.Itoa(i), v.String()})
			continue
		}
		sums, bad := m.sums(sc, array, span)
		if bad != nil {
			return answer{}, bad
		}
		for k, sum := range sums {
			cells = append(cells, cell{fmt.Sprintf("%d.%d", i, k), digest.Text(sum)})
		}
	}
	body := struct {
		Expr  string          `json:"expr"`
		Size  int             `json:"size"`
		Shape protocol.Shape  `json:"shape"`
		Spans []protocol.Span `json:"spans"`
	}{a.Expr, elementSize, protocol.Shape{Dims: []protocol.Dim{{Count: n}}}, spans}
	return answer{kind: protocol.KindResult, body: canonical.JSON(body), cells: sorted(cells)}, nil
}

// sums returns the hashes of the blocks of a span. If elements do not depend on the rank, they are
// computed once for all ranks.
func (m *machine) sums(sc scope, array int, span protocol.Span) ([]uint64, *protocol.Fault) {
	v := &sc.globals[array]
	k := sumKey{v.Expr, span, sc.size}
	sameOnAll := sameOnAllRanks(v.Expr)
	if sameOnAll {
		if sums, ok := m.library.sum(k); ok {
			return sums, nil
		}
	}
	var sums []uint64
	for _, b := range span.Blocks() {
		sum := digest.New()
		for i := b.First; i <= b.Last; i++ {
			x, bad := sc.element(array, int64(i))
			if bad != nil {
				return nil, bad
			}
			sum.Add(binary.LittleEndian.AppendUint64(nil, uint64(x.number)))
		}
		sums = append(sums, sum.Sum())
	}
	if sameOnAll {
		m.library.keepSum(k, sums)
	}
	return sums, nil
}

// sameOnAllRanks reports whether an expression has the same value on all ranks: its only names are i and
// size.
func sameOnAllRanks(expr string) bool {
	names := strings.FieldsFunc(expr, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) })
	for _, n := range names {
		if n != "i" && n != "size" && (n[0] < '0' || n[0] > '9') {
			return false
		}
	}
	return !strings.Contains(expr, `"`)
}
