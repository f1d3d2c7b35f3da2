// Values from the answers of ranks.

package valuefile

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"sdm/master/whole"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// Wanted is an expression whose value is wanted. If By is given, it is a piece of a whole array, and By the offset.
type Wanted struct{ Expr, By string }

// Exprs returns what the ranks are asked for: each expression, followed by the names of its offset.
func Exprs(wanted []Wanted) ([]string, error) {
	var exprs []string
	for _, w := range wanted {
		exprs = append(exprs, w.Expr)
		if w.By == "" {
			continue
		}
		o, err := whole.ParseOffset(w.By)
		if err != nil {
			return nil, err
		}
		exprs = append(exprs, o.Names()...)
	}
	if len(exprs) > protocol.MaxValueExprs {
		return nil, fmt.Errorf("more than %d expressions", protocol.MaxValueExprs)
	}
	return exprs, nil
}

// FromAnswer returns the values in one answer to values with Exprs(wanted). Ranks that have no number for a name of an
// offset have a Trouble.
func FromAnswer(g protocol.Group, wanted []Wanted) []Value {
	var body protocol.Values
	if g.Kind != protocol.KindResult || json.Unmarshal(g.Body, &body) != nil {
		return nil
	}
	var all []Value
	at := 0
	for _, w := range wanted {
		names := 0
		if w.By != "" {
			o, err := whole.ParseOffset(w.By)
			if err != nil {
				return nil
			}
			names = len(o.Names())
		}
		if at+names >= len(body.Values) {
			return nil
		}
		pieces := valuesOf(g, body.Values[at], at)
		if w.By != "" {
			for i := range pieces {
				pieces[i].By = w.By
			}
			for n := range names {
				pieces = splitAt(pieces, g, body.Values[at+1+n], at+1+n)
			}
		}
		all, at = append(all, pieces...), at+1+names
	}
	return all
}

// valuesOf returns the values of one expression, of which each has the ranks that gave it.
func valuesOf(g protocol.Group, info protocol.ValueInfo, at int) []Value {
	v := Value{Expr: info.Expr, Type: info.Type, Ranks: g.Ranks, Trouble: info.Trouble}
	n := strconv.Itoa(at)
	texts, _ := g.Column("value." + n)
	data, _ := g.Column("data." + n)
	switch {
	case info.Trouble != "":
		return []Value{v}
	case info.Kind == "":
		return perValue(v, texts, func(v *Value, text string) { v.Text = text })
	}
	v.Kind, v.Size, v.Shape, v.Stride = info.Kind, info.Size, info.Shape, info.Stride
	all := perValue(v, data, func(v *Value, text string) {
		var err error
		if v.Data, err = base64.StdEncoding.DecodeString(text); err != nil || !v.valid() {
			v.Kind, v.Data, v.Trouble = "", nil, "the elements did not arrive whole"
		}
	})
	sums, _ := g.Column("sum." + n)
	stats, _ := g.Column("stat." + n)
	var split []Value
	for _, v := range all {
		split = append(split, perValue(v, sums, func(v *Value, text string) { v.Sum = text })...)
	}
	for i := range split {
		split[i].Stat = statOf(stats, split[i].Ranks)
	}
	return split
}

// statOf returns the statistics of ranks with equal elements.
func statOf(c column.Column, ranks rank.Set) (s protocol.ArrayStat) {
	for _, x := range c.Values() {
		if x.Ranks.Intersects(ranks) {
			_ = json.Unmarshal([]byte(x.Value), &s) // of our own server; what is missing is 0
			return s
		}
	}
	return s
}

// perValue returns a copy of a value for each value of a column, with those ranks that have both.
func perValue(v Value, c column.Column, set func(*Value, string)) []Value {
	var all []Value
	for _, x := range c.Values() {
		one := v
		if one.Ranks = v.Ranks.Intersect(x.Ranks); one.Ranks.IsEmpty() {
			continue
		}
		set(&one, x.Value)
		all = append(all, one)
	}
	return all
}

// splitAt adds the value of a name of the offset to the pieces.
func splitAt(pieces []Value, g protocol.Group, info protocol.ValueInfo, at int) []Value {
	c, _ := g.Column("value." + strconv.Itoa(at))
	var all []Value
	for _, p := range pieces {
		if info.Trouble != "" || info.Kind != "" {
			p.Trouble = "the offset has " + info.Expr + ", which is no number"
			if info.Trouble != "" {
				p.Trouble += ": " + info.Trouble
			}
			all = append(all, p)
			continue
		}
		all = append(all, perValue(p, c, func(v *Value, text string) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				v.Trouble = "the offset has " + info.Expr + ", which is no number: " + protocol.Clip(text)
			}
			v.At = append(v.At[:len(v.At):len(v.At)], n)
		})...)
	}
	return all
}
