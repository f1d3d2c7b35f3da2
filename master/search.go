// Search for the elements of an array that differ.

package master

import (
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
)

// differing is a range of elements of an array that differ between ranks. If it is exact, all of
// them differ; otherwise the first and the last block of it do, and blocks between may.
type differing struct {
	First int    `json:"first"`
	Last  int    `json:"last"`
	Exact bool   `json:"exact"`
	Ranks string `json:"ranks,omitempty"` // without the majority's value; "" if unknown
	who   rank.Set
	known bool
}

// search finds the elements of an array that differ between ranks, from the hashes of ever smaller
// blocks. It is pure.
//
//	round 1   0 ................................ 99999    64 blocks; 2 differ
//	round 2       |------|           |------|             64 blocks of each
//	round 3          |                  |                 single elements
//
// If too many blocks differ, only the first and the last of each run of them are searched: the
// begin and the end of the run are still exact.
type search struct {
	asked []protocol.Span
	found []differing // single elements, and blocks that are not searched, in no order
}

// maxRanges is the maximal number of ranges in an answer.
const maxRanges = protocol.MaxSpans

func newSearch(elements int) *search {
	return &search{asked: []protocol.Span{{Last: elements - 1}}}
}

// take processes the hashes of the spans that were asked for and returns the next ones, or none.
func (s *search) take(h hashes) []protocol.Span {
	var blocks []differing
	for i, span := range s.asked {
		for k, b := range span.Blocks() {
			c, ok := h.columns[fmt.Sprintf("%d.%d", i, k)]
			if n, _ := c.Distinct(); !ok || n < 2 {
				continue
			}
			d := differing{First: b.First, Last: b.Last, Exact: b.Len() == 1}
			d.who, d.known = minority(c)
			if d.Exact {
				s.found = append(s.found, d)
			} else {
				blocks = append(blocks, d)
			}
		}
	}
	if len(h.columns) == 0 && len(s.asked) > 0 { // no rank has answered
		for _, span := range s.asked {
			s.found = append(s.found, differing{First: span.First, Last: span.Last})
		}
	}
	s.asked = nil
	for i, look := range selectBlocks(blocks) {
		if look {
			s.asked = append(s.asked, protocol.Span{First: blocks[i].First, Last: blocks[i].Last})
		} else {
			s.found = append(s.found, blocks[i])
		}
	}
	return s.asked
}

// selectBlocks chooses the blocks to search: all if they are few, else the first and the last of the
// first runs of neighbours.
func selectBlocks(blocks []differing) []bool {
	look := make([]bool, len(blocks))
	n := 0
	for i, b := range blocks {
		edge := i == 0 || i == len(blocks)-1 || blocks[i-1].Last+1 != b.First || b.Last+1 != blocks[i+1].First
		if n < protocol.MaxSpans && (edge || len(blocks) <= protocol.MaxSpans) {
			look[i] = true
			n++
		}
	}
	return look
}

// minority returns the ranks without the value that more than half have.
func minority(c column.Column) (who rank.Set, known bool) {
	if !c.Complete() {
		return rank.Set{}, false
	}
	for _, v := range c.Values() {
		if 2*v.Ranks.Len() > c.Count() {
			known = true
		} else {
			who = who.Union(v.Ranks)
		}
	}
	return who, known
}

// ranges returns what was found, in order, with neighbours joined, and how many more there are than
// an answer may hold. Exact ranges are joined if the same ranks differ in them.
func (s *search) ranges() (list []differing, more int) {
	slices.SortFunc(s.found, func(a, b differing) int { return a.First - b.First })
	for _, d := range s.found {
		n := len(list)
		if n > 0 && list[n-1].Last+1 == d.First && list[n-1].joins(d) {
			list[n-1] = list[n-1].with(d)
		} else {
			list = append(list, d)
		}
	}
	if len(list) > maxRanges {
		list, more = list[:maxRanges], len(list)-maxRanges
	}
	for i := range list {
		if list[i].known {
			list[i].Ranks = list[i].who.String()
		}
	}
	return list, more
}

// joins reports whether two neighbours are joined into one range.
func (d differing) joins(e differing) bool {
	if !d.Exact || !e.Exact {
		return true
	}
	return d.known == e.known && d.who.Equal(e.who)
}

func (d differing) with(e differing) differing {
	return differing{
		First: d.First, Last: e.Last, Exact: d.Exact && e.Exact,
		who: d.who.Union(e.who), known: d.known && e.known,
	}
}
