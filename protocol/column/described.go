// Columns with quantiles and a histogram, for stat.

package column

import "sdm/protocol/canonical"

// Described is a Column whose JSON form also has quantiles and a histogram.
type Described struct{ Column }

// Described returns the column with statistics.
func (c Column) Described() Described { return Described{c} }

// histogramBars is the number of steps of a histogram: lines on the screen.
const histogramBars = 10

// describedJSON is the JSON form: the column's, and the statistics.
type describedJSON struct {
	columnJSON
	Quantiles *quantilesJSON `json:"quantiles,omitempty"`
	Histogram []barJSON      `json:"histogram,omitempty"`
}

// quantilesJSON are percentiles.
type quantilesJSON struct {
	P1  any `json:"p1"`
	P5  any `json:"p5"`
	P25 any `json:"p25"`
	P50 any `json:"p50"`
	P75 any `json:"p75"`
	P95 any `json:"p95"`
	P99 any `json:"p99"`
}

// barJSON is one step: the numbers from "from" to less than "to"; the last step
// includes its end.
type barJSON struct {
	From  any `json:"from"`
	To    any `json:"to"`
	Count int `json:"count"` // ranks
}

// MarshalJSON returns the JSON object for front ends.
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

// Bars returns the histogram that is shown to users.
func (d Described) Bars() []Bar { return d.Histogram(histogramBars) }
