// Suggestions for misspelled commands.

package master

import (
	"strings"

	"sdm/protocol"
)

// nearest returns the command that was perhaps meant, or "": the first that begins with name, or
// else the one with the fewest edits, at most a third of the length of name.
func nearest(name string) string {
	best, least := "", len(name)/3+1
	for _, c := range protocol.Commands {
		if len(name) > 1 && strings.HasPrefix(c.Name, name) {
			return c.Name
		}
		if d := distance(name, c.Name, least); d < least {
			best, least = c.Name, d
		}
	}
	return best
}

// distance returns the number of bytes to change, insert, delete or swap with the next (optimal
// string alignment), at most limit.
func distance(a, b string, limit int) int {
	if max(len(a), len(b))-min(len(a), len(b)) >= limit {
		return limit
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return min(rows[len(a)][len(b)], limit)
}
