// Containers that a pretty-printer shows: they have no expression for an element, so that
// their pages are cut out of what gdb shows of them from the beginning.

package gdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"sdm/protocol"
)

// containerHead is how the pretty-printers of the C++ library begin.
//
//	std::map with 900 elements = {["a"] = 1, ["b"] = 2...}
//	std::deque with 900 elements = {1, 2...}
//	std::vector<bool> of length 900, capacity 960 = {true, false...}
//	std::__cxx11::list = {[0] = 1, [1] = 2...}
var containerHead = regexp.MustCompile(`^std::(?:(?:\w+::)*\w+ with ([0-9]+) elements?|vector<bool(?:, [^{}]*)?> of length ([0-9]+), capacity [0-9]+|(?:\w+::)*list) = \{`)

// uncounted is the number of elements of a container whose pretty-printer does not tell it.
const uncounted = -1

// containerItems gives the elements of a container that stand in a value, and how many it has; 0 for any other
// value.
func containerItems(value string) (items []string, n int) {
	found := containerHead.FindStringSubmatch(value)
	if found == nil {
		return nil, 0
	}
	n = uncounted
	if count := found[1] + found[2]; count != "" {
		var err error
		if n, err = strconv.Atoi(count); err != nil {
			return nil, 0
		}
	}
	return members(strings.TrimSuffix(value[len(found[0]):], "...}")), n
}

// countOf gives the number of elements of a container as its pretty-printer told it, or else as its list knows it; 0
// where nobody knows.
func (m *machine) countOf(q *request, w printing, n int, then func(n int)) {
	if n != uncounted {
		then(n)
		return
	}
	m.ask(q, func(a answer) {
		n, _ := strconv.Atoi(a.Results.Str("value")) // 0 where there is no such member
		then(n)
	}, "-data-evaluate-expression", append(m.at(q), " ("+w.expr+")._M_impl._M_node._M_size")...)
}

// mostContained bounds how far pages of a container reach: gdb walks through it from the beginning, and
// shows two megabytes in a second.
const mostContained = 20_000

// pageOfContainer answers with some elements of a container; with the refusal where it is none.
func (m *machine) pageOfContainer(q *request, w printing, first, last int, refusal *protocol.Fault) {
	if first >= mostContained {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("the first %d elements of a container can be shown", mostContained)})
		return
	}
	m.askPrint(q, w, w.expr, func(a answer, value string) {
		items, n := containerItems(value)
		if a.failed() || n == 0 {
			m.askMembers(q, w, first, refusal)
			return
		}
		m.countOf(q, w, n, func(n int) {
			if first >= len(items) {
				m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)})
				return
			}
			last := min(last, len(items)-1)
			text, shown := shortened("{"+strings.Join(items[first:last+1], ", ")+"}", m.most(w))
			m.replyValue(q, printed{Expr: q.args.Expr, Format: q.args.Format, Elements: n, First: first, Last: first + max(shown, 1) - 1}, text)
		})
	}, fmt.Sprintf("-elements %d", 2*(last+1)), "-repeats unlimited") // gdb counts keys and values
}
