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
var containerHead = regexp.MustCompile(`^std::(?:\w+::)*\w+ with ([0-9]+) elements? = \{`)

// containerItems gives the elements of a container that stand in a value, and how many it has; 0 for any other
// value.
func containerItems(value string) (items []string, n int) {
	found := containerHead.FindStringSubmatch(value)
	if found == nil {
		return nil, 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return nil, 0
	}
	for _, piece := range pieces(strings.TrimSuffix(value[len(found[0]):], "...}")) {
		items = append(items, strings.TrimSpace(piece))
	}
	return items, n
}

// mostContained bounds how far pages of a container reach: gdb walks through it from the beginning, and
// shows two megabytes in a second.
const mostContained = 20_000

// pageOfContainer answers with some elements of a container; with the refusal where it is none.
func (m *machine) pageOfContainer(q *request, first, last int, refusal *protocol.Fault) {
	if first >= mostContained {
		m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("the first %d elements of a container can be shown", mostContained)})
		return
	}
	// gdb counts keys and values.
	line := fmt.Sprintf("print -elements %d -repeats unlimited -- %s", 2*(last+1), q.args.Expr)
	k := m.ask(q, func(a answer) {
		items, n := containerItems(withoutHistory(a.text))
		switch {
		case a.failed() || n == 0:
			m.fail(q, refusal)
		case first >= len(items):
			m.fail(q, &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("There are only %d elements.", n)})
		default:
			last := min(last, len(items)-1)
			value := "{" + strings.Join(items[first:last+1], ", ") + "}"
			m.replyValue(q, printed{Expr: q.args.Expr, Elements: n, First: first, Last: last}, value)
		}
	}, "-interpreter-exec", append(m.at(q), "console", line)...)
	k.print = true
}
