// Encoding of rank sets as sets of tasks.

package ptp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"sdm/protocol/rank"
)

// maxTasks bounds the number of tasks of a job.
const maxTasks = 1 << 22

// SetText encodes a set of a job with this number of tasks: the number in
// hexadecimal, a colon, and the bits, the highest task first, padded to whole
// bytes. The empty set has one byte of zeros, as in Java.
func SetText(ranks rank.Set, tasks int) string {
	last, some := ranks.Max()
	if !some {
		return strconv.FormatInt(int64(tasks), 16) + ":00"
	}
	tasks = max(tasks, int(last)+1)
	digits := make([]byte, (tasks+7)/8*2)
	for r := range ranks.All() {
		digits[len(digits)-1-int(r)/4] |= 1 << (r % 4)
	}
	for i, d := range digits {
		digits[i] = "0123456789abcdef"[d]
	}
	return strconv.FormatInt(int64(tasks), 16) + ":" + string(digits)
}

var errNoSet = errors.New("no set of tasks")

// ParseSet decodes a set and the number of tasks of its job. Too few or too many
// digits are aligned to the right, as in Java.
func ParseSet(text string) (ranks rank.Set, tasks int, err error) {
	head, digits, ok := strings.Cut(text, ":")
	n, err := strconv.ParseUint(head, 16, 32)
	if !ok || err != nil || digits == "" {
		return rank.Set{}, 0, errNoSet
	}
	if n > maxTasks || len(digits) > maxTasks/4 {
		return rank.Set{}, 0, fmt.Errorf("a set of %d tasks", max(n, uint64(len(digits))*4))
	}
	var members []rank.ID
	for i := range len(digits) {
		d, err := strconv.ParseUint(digits[len(digits)-1-i:len(digits)-i], 16, 4)
		if err != nil {
			return rank.Set{}, 0, errNoSet
		}
		for bit := range 4 {
			if d>>bit&1 != 0 {
				members = append(members, rank.ID(4*i+bit))
			}
		}
	}
	if len(members) > 0 && uint64(members[len(members)-1]) >= n {
		return rank.Set{}, 0, fmt.Errorf("task %d of %d", members[len(members)-1], n)
	}
	return rank.Of(members...), int(n), nil
}
