// What is this machine's, by names.

package tape

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are the texts that stand on a tape as ${NAME}: folders, and processes.
type names map[string]string

// attach is a command that names a process: the next of the names 1, 2, ….
var attach = regexp.MustCompile(`^[0-9]*-target-attach (?:--thread-group \S+ )?([0-9]+)$`)

// process is how gdb writes the number of one.
var process = regexp.MustCompile(`(pid="|LWP |process |-target-attach |-target-attach --thread-group \S+ )([0-9]+)`)

// hide puts the names in.
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
	keys := slices.SortedFunc(maps.Keys(n), func(a, b string) int { // the longest text first: it may hold another
		return cmp.Or(len(n[b])-len(n[a]), strings.Compare(a, b))
	})
	for _, k := range keys {
		if strings.Contains(n[k], "/") {
			text = strings.ReplaceAll(text, n[k], "${"+k+"}")
		}
	}
	return text
}

// meet gives the process of a command that attaches to one its name.
func (n names) meet(command string) {
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

// show puts the texts back; names that are not known stay.
func (n names) show(text string) string {
	return name.ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := n[m[2:len(m)-1]]; ok {
			return v
		}
		return m
	})
}
