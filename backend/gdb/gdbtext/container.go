// Containers of the C++ library as the pretty-printers show them.

package gdbtext

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// containerHead matches the beginning of what the pretty-printers of the C++ library print.
//
//	std::map with 900 elements = {["a"] = 1, ["b"] = 2...}
//	std::deque with 900 elements = {1, 2...}
//	std::vector<bool> of length 900, capacity 960 = {true, false...}
//	std::__cxx11::list = {[0] = 1, [1] = 2...}
var containerHead = pattern.New(`^std::(?:(?:\w+::)*\w+ with ([0-9]+) elements?|vector<bool(?:, [^{}]*)?> of length ([0-9]+), capacity [0-9]+|(?:\w+::)*list) = \{`)

// UnknownCount is the number of elements of a container whose pretty-printer does not print it.
const UnknownCount = -1

// ContainerItems returns the elements of a container that a value shows, and the number of elements that
// the container has, or UnknownCount. n is 0 if the value is not a container.
func ContainerItems(value string) (items []string, n int) {
	found := containerHead.FindStringSubmatch(value)
	if found == nil {
		return nil, 0
	}
	n = UnknownCount
	if count := found[1] + found[2]; count != "" {
		var err error
		if n, err = strconv.Atoi(count); err != nil {
			return nil, 0
		}
	}
	return Members(strings.TrimSuffix(value[len(found[0]):], "...}")), n
}

// Depth returns how many levels of elements a value has, at least 1.
func Depth(value string) int {
	depth, most := 0, 1
	for _, b := range protocol.Unquoted(value) {
		switch b {
		case '{':
			depth++
			most = max(most, depth)
		case '}':
			depth--
		}
	}
	return most
}

// Items returns the elements that a value of a container, a vector or, if array is set, an array shows.
// n is as for ContainerItems; for vectors and arrays it is the number of items.
func Items(value string, array bool) (items []string, n int) {
	if array && strings.HasPrefix(value, "{") {
		items = Members(value[1:])
		return items, len(items)
	}
	if head := VectorOf.FindString(value); head != "" && strings.HasPrefix(value[len(head):], "{") {
		items = Members(value[len(head)+1:])
		return items, len(items)
	}
	return ContainerItems(value)
}
