package master

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/digest"
	"sdm/protocol/rank"
)

// field is an array on several ranks, element by element.
type field [][]byte

// answer returns the hashes of spans as the ranks would.
func (f field) answer(spans []protocol.Span) hashes {
	h := hashes{columns: map[string]column.Column{}}
	for i, s := range spans {
		for k, b := range s.Blocks() {
			name := fmt.Sprintf("%d.%d", i, k)
			for r := range f {
				c := column.New(name, rank.ID(r), digest.Text(digest.Of(f[r][b.First:b.Last+1])), 0)
				if r > 0 {
					c = h.columns[name].Merge(c)
				}
				h.columns[name] = c
			}
		}
	}
	return h
}

// search runs all rounds.
func (f field) search() (list []differing, more, rounds int) {
	s := newSearch(len(f[0]))
	for spans := s.asked; len(spans) > 0; rounds++ {
		if len(spans) > protocol.MaxSpans {
			panic("too many spans")
		}
		spans = s.take(f.answer(spans))
	}
	list, more = s.ranges()
	return list, more, rounds
}

// differs compares one element on all ranks.
func (f field) differs(i int) bool {
	return slices.ContainsFunc(f, func(one []byte) bool { return one[i] != f[0][i] })
}

// The ranges are correct for each element, and complete if few elements differ.
func TestSearchFindsWhatDiffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 70), rapid.IntRange(1000, 20000)).Draw(t, "elements")
		f := make(field, rapid.IntRange(2, 20).Draw(t, "ranks"))
		for r := range f {
			f[r] = make([]byte, n)
		}
		places := rapid.IntRange(0, 40).Draw(t, "places")
		for range places {
			r, at := rapid.IntRange(0, len(f)-1).Draw(t, "rank"), rapid.IntRange(0, n-1).Draw(t, "at")
			length := rapid.SampledFrom([]int{1, 1, 1, 3, n}).Draw(t, "length")
			for i := at; i < min(at+length, n); i++ {
				f[r][i] = byte(1 + r%3)
			}
		}
		list, more, _ := f.search()
		next := 0
		for _, d := range list {
			for i := next; i < d.First; i++ {
				if more == 0 && f.differs(i) {
					t.Fatalf("element %d differs, ranges are %v", i, list)
				}
			}
			for i := d.First; d.Exact && i <= d.Last; i++ {
				if !f.differs(i) {
					t.Fatalf("element %d does not differ, ranges are %v", i, list)
				}
			}
			next = d.Last + 1
		}
		for i := next; more == 0 && i < n; i++ {
			if f.differs(i) {
				t.Fatalf("element %d differs, ranges are %v", i, list)
			}
		}
	})
}

func TestSearch(t *testing.T) {
	const n, ranks = 100_000, 64
	for _, c := range []struct {
		name   string
		change func(f field)
		want   string
		rounds int
	}{
		{"nothing", func(field) {}, "", 1},
		{"one element", func(f field) { f[17][500] = 1 }, "500-500 on 17", 3},
		{"adjacent elements", func(f field) { f[3][700], f[3][701], f[9][702] = 1, 1, 1 }, "700-701 on 3; 702-702 on 9", 3},
		{"the first and the last element", func(f field) { f[0][0], f[63][n-1] = 1, 1 }, "0-0 on 0; 99999-99999 on 63", 3},
		{"all elements of one rank", func(f field) {
			for i := range n {
				f[5][i] = 1
			}
		}, "0-99999 some on 5", 3},
		{"a long range of one rank", func(f field) {
			for i := 12345; i <= 81234; i++ {
				f[5][i] = 1
			}
		}, "12345-81234 some on 5", 3},
		{"half of the ranks", func(f field) {
			for r := range ranks / 2 {
				f[r][7] = 1
			}
		}, "7-7 on ?", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := make(field, ranks)
			for r := range f {
				f[r] = make([]byte, n)
			}
			c.change(f)
			list, _, rounds := f.search()
			var got []string
			for _, d := range list {
				text := fmt.Sprintf("%d-%d", d.First, d.Last)
				if !d.Exact {
					text += " some"
				}
				if d.Ranks == "" {
					d.Ranks = "?"
				}
				got = append(got, text+" on "+d.Ranks)
			}
			if s := strings.Join(got, "; "); s != c.want || rounds != c.rounds {
				t.Errorf("got %q after %d rounds, want %q after %d", s, rounds, c.want, c.rounds)
			}
		})
	}
}
