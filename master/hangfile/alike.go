// Similar rows of many ranks.

package hangfile

import (
	"fmt"
	"strings"
)

// Rows is a row, or several similar ones.
type Rows struct {
	Row
	Count int
}

// String returns the text, and how many rows it stands for if they are several.
func (r Rows) String() string {
	if r.Count == 1 {
		return r.Text
	}
	return fmt.Sprintf("%s (%d rows, N differs)", r.Text, r.Count)
}

// Alike joins rows whose texts differ in numbers only, if there are more rows than some; a number that differs is
// "N". They are in the order of their first texts.
func Alike(rows []Row, some int) (out []Rows) {
	if len(rows) <= some {
		for _, r := range rows {
			out = append(out, Rows{r, 1})
		}
		return out
	}
	at := map[string]int{}
	var words [][]string // of the texts of out
	for _, r := range rows {
		parts, key := split(r.Text)
		i, known := at[key]
		if !known {
			at[key] = len(out)
			out, words = append(out, Rows{r, 1}), append(words, parts)
			continue
		}
		o := &out[i]
		for k, w := range parts {
			if words[i][k] != w {
				words[i][k] = "N"
			}
		}
		o.Text, o.Count = strings.Join(words[i], ""), o.Count+1
		o.Ranks, o.For = o.Ranks.Union(r.Ranks), o.For.Union(r.For)
	}
	return out
}

// split cuts a text into numbers and what is between them; pattern has 0 for each number.
func split(s string) (words []string, pattern string) {
	var b strings.Builder
	digit := func(i int) bool { return '0' <= s[i] && s[i] <= '9' }
	for start := 0; start < len(s); {
		end := start + 1
		for end < len(s) && digit(end) == digit(start) {
			end++
		}
		words = append(words, s[start:end])
		if digit(start) {
			b.WriteByte('0')
		} else {
			b.WriteString(s[start:end])
		}
		start = end
	}
	return words, b.String()
}
