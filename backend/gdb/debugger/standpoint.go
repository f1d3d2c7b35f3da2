// The answer to "info program".

package debugger

import (
	"slices"
	"strconv"
	"strings"

	"sdm/protocol/pattern"
)

var (
	infoProgram = pattern.New(`^i(?:nfo?|n)?\s+prog?r?a?m?\s*$`)
	stoppedAt   = pattern.New(`^It (?:also )?stopped at breakpoint ([0-9]+)\.$`)
)

// sinceDeleted is printed for a deleted breakpoint. It has no number, so its rank is
// unknown.
const sinceDeleted = "It stopped at a breakpoint that has since been deleted."

// ownStandpoints translates that text as if gdb had this rank alone: with breakpoints
// of this rank, by sdm's numbers.
func (ln *lines) ownStandpoints(text string) string {
	var lines []string
	own, deleted := false, -1
	for line := range strings.SplitSeq(text, "\n") {
		switch found := stoppedAt.FindStringSubmatch(line); {
		case found != nil && ln.points.Claimed(found[1]):
			own = true
			line = strings.Replace(line, found[1], strconv.Itoa(ln.points.NumberOf(found[1])), 1)
		case found != nil && ln.GDB.Shared():
			continue
		case line == sinceDeleted && ln.GDB.Shared():
			if deleted >= 0 {
				continue
			}
			deleted = len(lines)
		}
		lines = append(lines, line)
	}
	if own && deleted >= 0 {
		lines = slices.Delete(lines, deleted, deleted+1)
	}
	return strings.Join(lines, "\n")
}
