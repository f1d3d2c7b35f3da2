// Texts of gdb that differ only because ranks have different address spaces: "info frame", "Cannot
// access memory at address 0x5581a0".

package text

import (
	"slices"
	"strings"

	"sdm/protocol/column"
	"sdm/protocol/shape"
)

// joinPlaces joins answers that are equal except for addresses, and reports whether it has joined
// any.
func joinPlaces(all []answer) (out []answer, joined bool) {
	type joinedTexts struct {
		first  int // index in out
		column column.Column
	}
	joins := map[string]*joinedTexts{}
	for _, x := range all {
		text := strings.Join(x.lines, "\n")
		key, ok := placeKey(text)
		if !ok || x.bare || len(x.below) > 0 || x.ranks.IsEmpty() {
			out = append(out, x)
			continue
		}
		key = x.note + map[bool]string{true: "!"}[x.bad] + key
		c := column.Of("text", x.ranks, text, -1)
		s := joins[key]
		if s == nil {
			joins[key] = &joinedTexts{len(out), c}
			out = append(out, x)
			continue
		}
		joined = true
		s.column = s.column.Merge(c)
		out[s.first].ranks = out[s.first].ranks.Union(x.ranks)
	}
	for _, s := range joins {
		if n, _ := s.column.Distinct(); n > 1 {
			for _, f := range s.column.Folds() {
				out[s.first].lines = strings.Split(folded(f, false), "\n")
			}
		}
	}
	return out, joined
}

// placeKey returns the shape of a text with addresses; false for other texts, and for texts that
// may be numbers in hexadecimal ("output/x n").
func placeKey(text string) (string, bool) {
	template, leaves, ok := shape.Of(text)
	if !ok || shape.Single(template) || strings.HasPrefix(text, "{") {
		return "", false
	}
	return template, slices.ContainsFunc(leaves, func(l string) bool { return shape.Bare(l) != l })
}
