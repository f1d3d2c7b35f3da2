// Memory and processor time of ranks.

package text

import (
	"fmt"
	"strconv"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// manyUsed is the number of ranks up to which each has its own line; more are summarised.
const manyUsed = 16

// used writes "memory 3.1 MiB, CPU time 0.05 s" for each rank, or minimum, maximum and mean of many
// ranks.
func used(_ *Writer, _ Asked, g protocol.Group) []answer {
	all := columns(g)
	rss, cpu := all["rss"], all["cpu"]
	if rss.Count() == 0 {
		return nil
	}
	if g.Ranks.Len() > manyUsed || !rss.Complete() || !cpu.Complete() {
		line := "memory " + spanOf(rss.Column, mebibytes) + "; CPU time " + spanOf(cpu.Column, seconds)
		return []answer{{ranks: g.Ranks, lines: []string{line}}}
	}
	memory, time := byRank(rss.Column), byRank(cpu.Column)
	same := map[string]int{} // index in each
	var each []answer
	for r := range g.Ranks.All() {
		if memory[r] == "" {
			continue
		}
		line := "memory " + mebibytes(number(memory[r])) + ", CPU time " + seconds(number(time[r]))
		i, known := same[line]
		if !known {
			i, same[line] = len(each), len(each)
			each = append(each, answer{lines: []string{line}})
		}
		each[i].ranks = each[i].ranks.Union(rank.Of(r))
	}
	return each
}

// spanOf returns "3.1 MiB..1200.0 MiB (rank 3), mean 20.0 MiB".
func spanOf(c column.Column, unit func(float64) string) string {
	low, _ := c.Min()
	high, ok := c.Max()
	mean, _ := c.Mean()
	if !ok {
		return "?"
	}
	most, _ := high.Ranks.Min()
	return fmt.Sprintf("%s..%s (rank %d), mean %s", unit(number(low.Value)), unit(number(high.Value)), most, unit(mean))
}

func byRank(c column.Column) map[rank.ID]string {
	values := map[rank.ID]string{}
	for _, v := range c.Values() {
		for r := range v.Ranks.All() {
			values[r] = v.Value
		}
	}
	return values
}

func number(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64) // a number from a server
	return x
}

// mebibytes formats a number of KiB.
func mebibytes(kib float64) string { return strconv.FormatFloat(kib/1024, 'f', 1, 64) + " MiB" }

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 2, 64) + " s" }
