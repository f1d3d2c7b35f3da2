// Errors in breakpoint conditions, from gdb's log.

package breakpoint

import (
	"slices"
	"strings"

	"sdm/protocol/pattern"
)

// ConditionErrors joins the two lines of such an error: the first says what it is about, the
// second why.
//
//	&"Error in testing breakpoint condition:\n"
//	&"Cannot access memory at address 0x1\n"
type ConditionErrors struct {
	begun   string
	invalid []conditionError // not valid at a location; while they are being set
}

// conditionError is about a location, numbered over all ranks that share gdb: "2.3", or "3"
// while the breakpoint is being set; "": all locations.
type conditionError struct{ place, why string }

// maxConditionErrors bounds how many are kept until takeInvalid is called.
const maxConditionErrors = 1000

var (
	untested = pattern.New(`^Error (?:in testing|evaluating expression)\b.*:\s*$`)
	invalid  = pattern.New(`^warning: failed to validate condition at location ([0-9.]+), disabling:\s*$`)
)

// Receive processes a piece of gdb's log; taken reports that it is about a condition.
// whole is the complete message about a condition that could not be evaluated, in one
// line; it precedes the stop that results.
func (c *ConditionErrors) Receive(text string) (whole string, taken bool) {
	begun := c.begun
	c.begun = ""
	if strings.HasPrefix(text, "Error ") && untested.MatchString(text) || strings.HasPrefix(text, "warning: ") && invalid.MatchString(text) {
		c.begun = strings.TrimSpace(text)
		return "", true
	}
	why := strings.TrimSpace(text)
	switch found := invalid.FindStringSubmatch(begun); {
	case begun == "" || len(c.invalid) >= maxConditionErrors:
		return "", begun != ""
	case found != nil:
		c.invalid = append(c.invalid, conditionError{found[1], why})
		return "", true
	}
	return begun + " " + why, true
}

// takeInvalid returns and removes, by location, why a condition is not valid there: for
// the breakpoint with gdb's number, and for one that has just been set.
func (c *ConditionErrors) takeInvalid(number string) map[string]string {
	var why map[string]string
	c.invalid = slices.DeleteFunc(c.invalid, func(one conditionError) bool {
		if strings.Contains(one.place, ".") && !strings.HasPrefix(one.place, number+".") {
			return false
		}
		if why == nil {
			why = map[string]string{}
		}
		why[one.place] = one.why
		return true
	})
	return why
}
