// Arguments of commands.

package ptp

import (
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol/ptp"
)

// arguments are those after the set of tasks, as text.
type arguments []string

// maxText bounds an argument, in bytes: gdb ends on expressions of megabytes, whose parser is
// recursive.
const maxText = 64 << 10

// tooLong returns the length of the longest argument if it is beyond maxText, otherwise 0.
func (args arguments) tooLong() int {
	longest := 0
	for _, a := range args {
		longest = max(longest, len(a))
	}
	if longest <= maxText {
		return 0
	}
	return longest
}

// number reads an integer argument; it reports an error if it is not one.
func (j *action) number(args arguments, i int) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(args[i]))
	if err != nil || n < -1<<31 || n > 1<<31-1 {
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("%s: %.40q is no number", j.what, args[i]))
		return 0, false
	}
	return n, true
}

func isTrue(arg string) bool { return arg != "" && arg != "0" }
