// The version of gdb.

package gdbtext

import (
	"strconv"

	"sdm/protocol/pattern"
)

// version matches the end of a line of gdb --version (print_gdb_version in gdb's top.c)
// as distributors change it: after a package version in parentheses, or with that
// version itself. cuda-gdb has it on a later line ("Based on GNU gdb 13.2"); rocgdb has
// ROCm's version in the parentheses.
var version = pattern.New(`(?m)GNU gdb .*?\b([0-9]{1,4})\.([0-9]{1,9})[^\s)]*\s*$`)

// Version parses the output of gdb --version; ok reports whether a gdb has written it.
func Version(text string) (major, minor int, ok bool) {
	v := version.FindStringSubmatch(text)
	if v == nil {
		return 0, 0, false
	}
	major, _ = strconv.Atoi(v[1])
	minor, _ = strconv.Atoi(v[2])
	return major, minor, true
}
