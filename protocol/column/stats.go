// Statistics of a column.

package column

// Stats are statistics of the numbers of a column over ranks: a value of a hundred
// ranks counts a hundred times.
type Stats struct {
	Count   int // ranks in all
	Numbers int // ranks with a finite number; if 0, only NaN and Inf are set
	// Lowest and Highest are the four lowest and highest distinct numbers,
	// outermost first. If there are fewer than four, both contain all.
	Lowest, Highest []Extreme
	Mean, StdDev    float64 // StdDev is of the population; from exact sums, rounded once
	NaN, Inf        Tally   // Inf of either sign; not included in the figures above
}

// Stats returns the statistics, which are exact whether or not the column is
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

// Min returns the lowest finite number; false if there is none.
func (c Column) Min() (Extreme, bool) { return outer(c.summarized().low) }

// Max returns the highest finite number; false if there is none.
func (c Column) Max() (Extreme, bool) { return outer(c.summarized().high) }

func outer(points []point) (Extreme, bool) {
	if len(points) == 0 {
		return Extreme{}, false
	}
	return points[0].Extreme, true
}

// Mean returns the mean of the finite numbers; false if there is none.
func (c Column) Mean() (float64, bool) {
	s := c.Stats()
	return s.Mean, s.Numbers > 0
}

// StdDev returns the population standard deviation of the finite numbers; false if
// there is none.
func (c Column) StdDev() (float64, bool) {
	s := c.Stats()
	return s.StdDev, s.Numbers > 0
}
