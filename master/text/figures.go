// Statistics of arrays.

package text

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// arrayFigures writes statistics of the numbers of an array, over all elements of all ranks and by
// rank; false if the answer is not of an array.
//
//	[0-3]
//	field: 1000 elements on each rank, mean 500.25
//	least 0 at field[0] on [0], greatest 1000.5 at field[999] on [3]
//	2 NaN on [1], the first at field[7]
//	min  0 [0], 0.5 [1], 1 [2], 1.5 [3]
//	max  999 [0], 999.5 [1], 1000 [2], 1000.5 [3]
//	mean 499.5 [0], 500 [1], 500.5 [2], 501 [3]
func arrayFigures(a Asked, g protocol.Group) (answer, bool) {
	var body struct {
		Elements int `json:"elements"`
	}
	cols := columns(g)
	nan, ok := cols["nan"]
	if !decode(g.Body, &body) || !ok {
		return answer{}, false
	}
	name := expression(a, g)
	if strings.ContainsAny(name, " @+*") {
		name = "(" + name + ")"
	}
	x := answer{ranks: g.Ranks}
	head := name + ": " + strconv.Itoa(body.Elements) + " elements on each rank"
	low, high, mean := cols["min"], cols["max"], cols["mean"]
	if mean.stats.Numbers > 0 {
		head += ", mean " + short(mean.stats.Mean)
	}
	x.lines = append(x.lines, head)
	if low.stats.Numbers > 0 && high.stats.Numbers > 0 {
		least, greatest := low.stats.Lowest[0], high.stats.Highest[0]
		x.lines = append(x.lines, "least "+least.Value+placeOf(name, cols["minat"], least.Ranks)+", greatest "+greatest.Value+placeOf(name,
			cols["maxat"], greatest.Ranks))
	}
	x.lines = append(x.lines, excludedElements(name, nan, cols["nanat"], "NaN")...)
	x.lines = append(x.lines, excludedElements(name, cols["inf"], view{}, "infinite")...)
	for _, c := range []struct {
		name string
		view
	}{{"min  ", low}, {"max  ", high}, {"mean ", mean}} {
		if c.distinct > 1 {
			x.lines = append(x.lines, c.name+spreadText(c.view))
		}
	}
	return x, true
}

// placeOf returns " at field[7] on [1]": the element on the lowest of some ranks.
func placeOf(name string, at view, ranks rank.Set) string {
	lowest, some := ranks.Min()
	if !some {
		return ""
	}
	where := ""
	for _, v := range at.values {
		if v.Ranks.Contains(lowest) && v.Value != "" {
			where = " at " + name + v.Value
		}
	}
	return where + " on [" + rank.Of(lowest).String() + "]"
}

// excludedElements returns a line about elements that are not included in the statistics, if there
// are any.
func excludedElements(name string, count, at view, what string) []string {
	if count.stats.Numbers == 0 || count.stats.Highest[0].Value == "0" {
		return nil
	}
	most := count.stats.Highest[0]
	line := most.Value + " " + what + " on " + holders(most.Tally)
	if count.distinct > 2 || count.distinct == 2 && count.stats.Lowest[0].Value != "0" {
		line = "up to " + line
	}
	if lowest, some := most.Ranks.Min(); some {
		for _, v := range at.values {
			if v.Ranks.Contains(lowest) {
				line += ", the first at " + name + v.Value
			}
		}
	}
	return []string{line}
}
