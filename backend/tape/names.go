// Names on tapes for what depends on the machine.

package tape

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are the texts that are written as ${NAME} on a tape: directories and process ids, by name.
type names map[string]string

// attach matches a command that attaches to a process. The processes get the names 1, 2, … in
// order.
var attach = regexp.MustCompile(`^[0-9]*-target-attach (?:--thread-group \S+ )?([0-9]+)$`)

// process matches gdb's forms of a process id.
var process = regexp.MustCompile(`(pid="|LWP |process |-target-attach |-target-attach --thread-group \S+ )([0-9]+)`)

// hide replaces texts by their names.
func (n names) hide(text string) string {
	text = process.ReplaceAllStringFunc(text, func(m string) string {
		parts := process.FindStringSubmatch(m)
		for k, v := range n {
			if v == parts[2] {
				return parts[1] + "${" + k + "}"
			}
		}
		return m
	})
	// The longest text comes first: it may contain another.
	keys := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		return cmp.Or(len(n[b])-len(n[a]), strings.Compare(a, b))
	})
	for _, k := range keys {
		if strings.Contains(n[k], "/") {
			text = strings.ReplaceAll(text, n[k], "${"+k+"}")
		}
	}
	return text
}

// learn gives a name to the process of a command that attaches to it.
func (n names) learn(command string) {
	found := attach.FindStringSubmatch(command)
	if found == nil {
		return
	}
	for i := 1; ; i++ {
		switch n[strconv.Itoa(i)] {
		case found[1]:
			return
		case "":
			n[strconv.Itoa(i)] = found[1]
			return
		}
	}
}

var name = regexp.MustCompile(`\$\{[A-Za-z0-9_]+\}`)

// show replaces names by their texts; unknown names stay.
func (n names) show(text string) string {
	return name.ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := n[m[2:len(m)-1]]; ok {
			return v
		}
		return m
	})
}
