// Statistics of a column.

package column

// Stats says what the numbers of a column are like, over ranks: a value that a
// hundred ranks gave counts a hundred times.
type Stats struct {
	Count   int // ranks in all
	Numbers int // ranks with a finite number; 0 leaves nothing below to say
	// Lowest and Highest are the four lowest and highest distinct numbers,
	// outermost first; of fewer numbers both have all.
	Lowest, Highest []Extreme
	Mean, StdDev    float64 // of the population; of exact sums, rounded once
	NaN, Inf        Tally   // of either sign; in none of the figures above
}

// Stats computes the statistics, which are exact whether or not the column is
// complete.
func (c Column) Stats() Stats {
	s := c.summarized()
	stats := Stats{
		Count: s.count, Numbers: s.numbers,
		Lowest: extremes(s.low), Highest: extremes(s.high),
		NaN: s.nan, Inf: s.inf,
	}
	if s.numbers > 0 {
		stats.Mean = mean(s.sum, s.numbers)
		stats.StdDev = deviation(s.sum, s.squares, s.numbers)
	}
	return stats
}

func extremes(points []point) []Extreme {
	var out []Extreme
	for _, p := range points {
		out = append(out, p.Extreme)
	}
	return out
}

// Min gives the lowest finite number; false when there is none.
func (c Column) Min() (Extreme, bool) { return outer(c.summarized().low) }

// Max gives the highest finite number; false when there is none.
func (c Column) Max() (Extreme, bool) { return outer(c.summarized().high) }

func outer(points []point) (Extreme, bool) {
	if len(points) == 0 {
		return Extreme{}, false
	}
	return points[0].Extreme, true
}

// Mean gives the mean of the finite numbers; false when there is none.
func (c Column) Mean() (float64, bool) {
	s := c.Stats()
	return s.Mean, s.Numbers > 0
}

// StdDev gives the standard deviation of the finite numbers, taken as the whole
// population; false when there is none.
func (c Column) StdDev() (float64, bool) {
	s := c.Stats()
	return s.StdDev, s.Numbers > 0
}
