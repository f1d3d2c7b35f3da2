// The command values: values with their types, and elements of arrays as bytes.

package values

import (
	"cmp"
	"encoding/base64"
	"io"
	"math"
	"strconv"
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/digest"
)

// taking is an answer to values under construction.
type taking struct {
	q       *request.Request
	body    protocol.Values
	columns *Columns
	most    int // elements of each array
	bytes   int // … and their size
}

func (p *Printer) takeValues(q *request.Request) {
	n := len(q.Args.Exprs)
	switch {
	case n == 0:
		p.Fail(q, NoExpression())
		return
	case n > protocol.MaxValueExprs:
		p.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "at most " + strconv.Itoa(protocol.MaxValueExprs) + " expressions can be asked for"})
		return
	}
	t := &taking{q: q, columns: ColumnsOf(p.Process().Rank, q.Args.Limit)}
	t.most, t.bytes = cmp.Or(max(q.Args.Count, 0), math.MaxInt32), protocol.MaxTaken/n
	p.takeNext(t)
}

// takeNext takes the value of the next expression, or answers.
func (p *Printer) takeNext(t *taking) {
	i := len(t.body.Values)
	if i == len(t.q.Args.Exprs) {
		p.Reply(t.q, t.body, t.columns.Sorted()...)
		return
	}
	one := t.q.About(t.q.Args.Exprs[i])
	one.Args.Exprs, one.Answered = nil, false
	t.body.Values = append(t.body.Values, protocol.ValueInfo{Expr: one.Args.Expr})
	k := p.Ask(one, func(a request.Answer) {
		if a.Failed() {
			p.takeText(t, one)
			return
		}
		t.body.Values[i].Type = strings.TrimPrefix(strings.TrimSpace(a.Text), "type = ")
		p.arrays.arrayOf(one, func(a gdbtext.Array, refusal *protocol.Fault) {
			if refusal != nil || a.Scattered || a.Text || a.Size > 8 || !a.Kind.Countable(a.Size) || a.Bytes() > maxHashed {
				p.takeText(t, one)
				return
			}
			p.takeArray(t, one, a)
		})
	}, "-interpreter-exec", append(p.At(one), "console", "whatis "+one.Args.Expr)...)
	k.Print = true
}

// takeText takes a value as gdb shows it.
func (p *Printer) takeText(t *taking, one *request.Request) {
	i := len(t.body.Values) - 1
	p.Displays.AskValue(one, "", one.Args.Expr, func(a request.Answer, value string) {
		if a.Failed() {
			t.body.Values[i].Trouble = addressIn.ReplaceAllString(a.Results.Str("msg"), "0x…")
		} else {
			t.columns.Add("value."+strconv.Itoa(i), value)
		}
		p.takeNext(t)
	})
}

// takeArray takes elements of an array, and statistics of all of them.
func (p *Printer) takeArray(t *taking, one *request.Request, a gdbtext.Array) {
	i := len(t.body.Values) - 1
	s := &numbers{kind: a.Kind, size: a.Size}
	some := &strider{size: a.Size, stride: protocol.StrideOf(a.Shape.Elements(), min(t.most, t.bytes/a.Size))}
	sum := digest.New()
	p.readArray(one, a, io.MultiWriter(s, some, hashWriter{sum}), func(bad *protocol.Fault) {
		v := &t.body.Values[i]
		if bad != nil {
			v.Trouble = addressIn.ReplaceAllString(bad.Message, "0x…")
			p.takeNext(t)
			return
		}
		v.Kind, v.Size, v.Shape, v.Stride = kindName(a.Kind), a.Size, a.Shape, some.stride
		n := strconv.Itoa(i)
		t.columns.Add("data."+n, base64.StdEncoding.EncodeToString(some.taken))
		t.columns.Add("sum."+n, digest.Text(sum.Sum()))
		t.columns.Add("stat."+n, string(canonical.JSON(s.stat())))
		p.takeNext(t)
	})
}

func kindName(k gdbtext.Kind) string {
	switch k {
	case gdbtext.Floating:
		return protocol.FloatingKind
	case gdbtext.Unsigned:
		return protocol.UnsignedKind
	}
	return protocol.SignedKind
}

// stat returns the statistics.
func (s *numbers) stat() protocol.ArrayStat {
	sum := s.sum + s.carry
	if math.IsInf(sum, 0) || math.IsNaN(sum) { // JSON has neither
		sum = math.Copysign(math.MaxFloat64, s.sum)
	}
	return protocol.ArrayStat{
		Elements: s.n, NaN: s.nan, NaNAt: s.nanAt, Inf: s.inf,
		Min: s.min.text, MinAt: s.min.at, Max: s.max.text, MaxAt: s.max.at, Sum: sum,
	}
}

// strider keeps each so manyth element of what is written to it.
type strider struct {
	size, stride int // bytes, elements
	at           int // bytes so far
	taken        []byte
}

// Write implements io.Writer; it never fails.
func (s *strider) Write(b []byte) (int, error) {
	for period, done := s.size*s.stride, 0; done < len(b); {
		within := s.at % period
		n := len(b) - done
		if within < s.size {
			n = min(n, s.size-within)
			s.taken = append(s.taken, b[done:done+n]...)
		} else {
			n = min(n, period-within)
		}
		done, s.at = done+n, s.at+n
	}
	return len(b), nil
}
