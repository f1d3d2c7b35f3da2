// What gdb writes to its log about conditions of breakpoints.

package gdb

import (
	"regexp"
	"slices"
	"strings"
)

// complaints joins the parts of what gdb has to say: first what it was about, then why.
//
//	&"Error in testing breakpoint condition:\n"
//	&"Cannot access memory at address 0x1\n"
type complaints struct {
	begun   string
	invalid []complaint // conditions that mean nothing at a place, while they are being set
}

// complaint is about a place, as gdb counts those of all ranks that share it: "2.3", or "3" where the breakpoint is
// just being made; "" is all.
type complaint struct{ place, why string }

// mostComplaints bounds how many are kept before somebody takes them.
const mostComplaints = 1000

var (
	untested = regexp.MustCompile(`^Error (?:in testing|evaluating expression)\b.*:\s*$`)
	invalid  = regexp.MustCompile(`^warning: failed to validate condition at location ([0-9.]+), disabling:\s*$`)
)

// hear takes a piece of gdb's log, if it is about a condition. whole is what it says of one that could not be evaluated,
// before the stop that comes of it, in one line.
func (c *complaints) hear(text string) (whole string, taken bool) {
	begun := c.begun
	c.begun = ""
	if strings.HasPrefix(text, "Error ") && untested.MatchString(text) || strings.HasPrefix(text, "warning: ") && invalid.MatchString(text) {
		c.begun = strings.TrimSpace(text)
		return "", true
	}
	why := strings.TrimSpace(text)
	switch found := invalid.FindStringSubmatch(begun); {
	case begun == "" || len(c.invalid) >= mostComplaints:
		return "", begun != ""
	case found != nil:
		c.invalid = append(c.invalid, complaint{found[1], why})
		return "", true
	}
	return begun + " " + why, true
}

// takeInvalid gives, by place, why a condition means nothing there, and forgets it: at those of a breakpoint of gdb's
// number, and of one that has just been made.
func (c *complaints) takeInvalid(number string) map[string]string {
	var why map[string]string
	c.invalid = slices.DeleteFunc(c.invalid, func(one complaint) bool {
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
