// JSON form of a column, for front ends.

package column

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"sdm/protocol/canonical"
	"sdm/protocol/decode"
	"sdm/protocol/rank"
)

// columnJSON is the JSON form. The name is the key of the object that contains it.
type columnJSON struct {
	Distinct  int          `json:"distinct"`
	Estimated bool         `json:"estimated,omitempty"` // Distinct is an estimate
	Count     int          `json:"count"`
	Min       *extremeJSON `json:"min,omitempty"`
	Max       *extremeJSON `json:"max,omitempty"`
	Mean      any          `json:"mean,omitempty"`
	StdDev    any          `json:"stddev,omitempty"`
	NaN       *tallyJSON   `json:"nan,omitempty"`
	Inf       *tallyJSON   `json:"inf,omitempty"`
	// Lowest, Highest and Exact are set if Values is not. Exact is the encoding of
	// the other fields that can be merged.
	Lowest  []extremeJSON `json:"lowest,omitempty"`
	Highest []extremeJSON `json:"highest,omitempty"`
	Limit   int           `json:"limit,omitempty"` // unless it is DefaultLimit
	Values  []valueJSON   `json:"values,omitempty"`
	// Folds are the values by shape, if they differ and all have one.
	Folds []foldJSON `json:"folds,omitempty"`
	Exact []byte     `json:"exact,omitempty"`
}

// valueJSON is one distinct value. Bytes that are not UTF-8 are in Data.
type valueJSON struct {
	Value *string  `json:"value,omitempty"`
	Data  []byte   `json:"data,omitempty"`
	Ranks rank.Set `json:"ranks"`
}

// extremeJSON is one of the lowest or highest numbers; Rank is its lowest rank. The
// other fields, as in tallyJSON, are set in Lowest and Highest only.
type extremeJSON struct {
	Value any       `json:"value"`
	Rank  rank.ID   `json:"rank"`
	Count int       `json:"count,omitempty"`
	Ranks *rank.Set `json:"ranks,omitempty"`
}

// tallyJSON is a count of ranks; Ranks are the lowest 8 of them.
type tallyJSON struct {
	Count int      `json:"count"`
	Ranks rank.Set `json:"ranks"`
}

// MarshalJSON returns the JSON object for front ends: with every value while the
// column is complete, and with a summary afterwards. Integers beyond 2^53 are
// strings.
func (c Column) MarshalJSON() ([]byte, error) { return canonical.JSON(c.json()), nil }

func (c Column) json() columnJSON {
	s := c.summarized()
	out := columnJSON{Count: s.count, NaN: s.nan.json(), Inf: s.inf.json()}
	if c.limit != DefaultLimit {
		out.Limit = c.limit
	}
	var exact bool
	out.Distinct, exact = c.Distinct()
	out.Estimated = !exact
	if s.numbers > 0 {
		out.Min, out.Max = s.low[0].json(), s.high[0].json()
		out.Mean = jsonFloat(mean(s.sum, s.numbers))
		out.StdDev = jsonFloat(deviation(s.sum, s.squares, s.numbers))
	}
	for _, v := range c.Values() {
		out.Values = append(out.Values, newValueJSON(v))
	}
	out.Folds = c.foldsJSON()
	if c.summary != nil {
		out.Lowest, out.Highest = pointsJSON(s.low), pointsJSON(s.high)
		out.Exact = s.appendWire(nil)
	}
	return out
}

func (t Tally) json() *tallyJSON {
	if t.Count == 0 {
		return nil
	}
	return &tallyJSON{t.Count, t.Ranks}
}

func (p point) json() *extremeJSON {
	lowest, _ := p.Ranks.Min()
	return &extremeJSON{Value: p.number.json(), Rank: lowest}
}

func pointsJSON(points []point) []extremeJSON {
	var out []extremeJSON
	for _, p := range points {
		e := p.json()
		e.Count, e.Ranks = p.Count, &p.Ranks
		out = append(out, *e)
	}
	return out
}

func newValueJSON(v ValueCount) valueJSON {
	if !utf8.ValidString(v.Value) {
		return valueJSON{Data: []byte(v.Value), Ranks: v.Ranks}
	}
	return valueJSON{Value: &v.Value, Ranks: v.Ranks}
}

// UnmarshalJSON parses the result of MarshalJSON. It does not set Name, which is
// the key of the object.
func (c *Column) UnmarshalJSON(b []byte) error {
	var in columnJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("column: %w", err)
	}
	out := Column{Name: c.Name, limit: in.Limit}
	switch {
	case in.Limit < -1 || in.Limit >= math.MaxInt32:
		return fmt.Errorf("column: a limit of %d is not possible", in.Limit)
	case in.Limit == 0 && (in.Exact != nil || in.Values != nil):
		out.limit = DefaultLimit
	}
	var err error
	if in.Exact != nil {
		r := &reader{decode.Reader{Rest: in.Exact}}
		out.summary = r.summary()
		if r.Err == nil && len(r.Rest) > 0 {
			out.summary.folds = r.folds()
		}
		if err = r.Err; err == nil && len(r.Rest) > 0 {
			err = errors.New("bytes after a summary")
		}
	} else {
		out.values, err = readValues(in.Values, out.limit)
	}
	if err != nil {
		return fmt.Errorf("column: %w", err)
	}
	*c = out
	return nil
}

// readValues validates and sorts the values of a complete column.
func readValues(in []valueJSON, limit int) ([]ValueCount, error) {
	var out []ValueCount
	for _, v := range in {
		value := string(v.Data)
		if v.Value != nil {
			value = *v.Value
		}
		if v.Ranks.IsEmpty() {
			return nil, fmt.Errorf("value %q has no ranks", value)
		}
		out = append(out, ValueCount{value, v.Ranks})
	}
	slices.SortFunc(out, func(a, b ValueCount) int { return strings.Compare(a.Value, b.Value) })
	for i := 1; i < len(out); i++ {
		if out[i].Value == out[i-1].Value {
			return nil, fmt.Errorf("value %q appears twice", out[i].Value)
		}
	}
	if limit >= 0 && len(out) > limit {
		return nil, fmt.Errorf("%d values are more than the limit, %d", len(out), limit)
	}
	return out, nil
}
