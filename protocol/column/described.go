// A column with all that can be said about its numbers, for stat.

package column

import "sdm/protocol/canonical"

// Described is a column whose JSON form has quantiles and a histogram as well.
type Described struct{ Column }

// Described gives the column for whoever asked for statistics.
func (c Column) Described() Described { return Described{c} }

// histogramBars is how many steps a histogram has: so many lines of a screen.
const histogramBars = 10

// describedJSON is the JSON form: that of the column, and what follows.
type describedJSON struct {
	columnJSON
	Quantiles *quantilesJSON `json:"quantiles,omitempty"`
	Histogram []barJSON      `json:"histogram,omitempty"`
}

// quantilesJSON are numbers that so many per cent of all are at most as great as.
type quantilesJSON struct {
	P1  any `json:"p1"`
	P5  any `json:"p5"`
	P25 any `json:"p25"`
	P50 any `json:"p50"`
	P75 any `json:"p75"`
	P95 any `json:"p95"`
	P99 any `json:"p99"`
}

// barJSON is one step: the numbers from "from" and less than "to"; the last one
// has its end too.
type barJSON struct {
	From  any `json:"from"`
	To    any `json:"to"`
	Count int `json:"count"` // ranks
}

// MarshalJSON gives the object that front ends see.
func (d Described) MarshalJSON() ([]byte, error) {
	out := describedJSON{columnJSON: d.json()}
	all := d.spread()
	if all.total > 0 {
		at := func(q float64) any {
			f, _ := all.quantile(q)
			return jsonFloat(f)
		}
		out.Quantiles = &quantilesJSON{at(0.01), at(0.05), at(0.25), at(0.5), at(0.75), at(0.95), at(0.99)}
	}
	for _, b := range d.Bars() {
		out.Histogram = append(out.Histogram, barJSON{jsonFloat(b.From), jsonFloat(b.To), b.Count})
	}
	return canonical.JSON(out), nil
}

// Bars is the histogram as it is shown.
func (d Described) Bars() []Bar { return d.Histogram(histogramBars) }
