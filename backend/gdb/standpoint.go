// The breakpoints at which gdb says that a rank stands ("info program").

package gdb

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	infoProgram = regexp.MustCompile(`^i(?:nfo?|n)?\s+prog?r?a?m?\s*$`)
	stoppedAt   = regexp.MustCompile(`^It (?:also )?stopped at breakpoint ([0-9]+)\.$`)
)

// sinceDeleted is said of a breakpoint that is no more. It has no number, so whose it was is not known.
const sinceDeleted = "It stopped at a breakpoint that has since been deleted."

// ownStandpoints gives that text as a gdb would say it that has this rank alone: with its breakpoints by their numbers here.
func (m *machine) ownStandpoints(text string) string {
	var lines []string
	own, deleted := false, -1
	for line := range strings.SplitSeq(text, "\n") {
		switch found := stoppedAt.FindStringSubmatch(line); {
		case found != nil && m.points.claimed(found[1]):
			own = true
			line = strings.Replace(line, found[1], strconv.Itoa(m.points.ours(found[1])), 1)
		case found != nil && m.gdb.shared():
			continue
		case line == sinceDeleted && m.gdb.shared():
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
