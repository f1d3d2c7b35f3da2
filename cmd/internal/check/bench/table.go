// The table, whose rows are printed as they come.

package main

import (
	"fmt"
	"io"
)

// row is one figure.
type row struct {
	what  string
	unit  string // "": it was not measured
	ours  float64
	floor float64 // 0: none
	ratio float64 // median of the ratios of neighbouring runs; 0: ours / floor
	limit limit
}

// limit is a target. At most one of ratio and most is set; if neither is, the figure has no target.
type limit struct {
	ratio float64 // of ours / floor; 0: none
	slack float64 // with ratio: the target is also met if ours - floor is at most this, in the unit
	most  float64 // of ours, in the unit; 0: none
}

// String returns the limit as the table shows it.
func (l limit) String() string {
	switch {
	case l.slack > 0:
		return fmt.Sprintf("<= %.2f x or +%g", l.ratio, l.slack)
	case l.ratio > 0:
		return fmt.Sprintf("<= %.2f x", l.ratio)
	case l.most > 0:
		return fmt.Sprintf("<= %g", l.most)
	}
	return "-"
}

// times returns the ratio of ours to the floor; 0: there is no floor.
func (r row) times() float64 {
	if r.ratio == 0 && r.floor > 0 {
		return r.ours / r.floor
	}
	return r.ratio
}

// verdict tells whether the target is met.
func (r row) verdict() string {
	over := r.limit.ratio > 0 && r.times() > r.limit.ratio && r.ours-r.floor > r.limit.slack ||
		r.limit.most > 0 && r.ours > r.limit.most
	switch {
	case r.limit == limit{}:
		return ""
	case over:
		return "over"
	}
	return "ok"
}

// table prints rows as they come, so a run that is ended has said what it knew.
type table struct {
	to    io.Writer
	begun bool
}

// tableRow has columns that are wide enough for nearly all rows.
const tableRow = "%-76s  %10s  %10s  %5s  %-18s %s\n"

func (t *table) add(r row) {
	if !t.begun {
		t.begun = true
		fmt.Fprintf(t.to, tableRow, "what", "ours", "floor", "ratio", "target", "verdict")
	}
	if r.unit == "" {
		fmt.Fprintf(t.to, tableRow, r.what, "-", "-", "-", "-", "")
		return
	}
	floor, ratio := "-", "-"
	if r.floor > 0 {
		floor, ratio = number(r.floor)+" "+r.unit, fmt.Sprintf("%.2f", r.times())
	}
	fmt.Fprintf(t.to, tableRow, r.what, number(r.ours)+" "+r.unit, floor, ratio, r.limit, r.verdict())
}

// number formats x with three significant digits.
func number(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
