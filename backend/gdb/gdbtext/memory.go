// Formats and output of "x".

package gdbtext

import (
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/pattern"
)

// MemoryRow is a line of x without its address and values.
type MemoryRow struct {
	Label string `json:"label,omitempty"` // "table+16"
	Here  bool   `json:"here,omitempty"`  // the current instruction of the frame
}

// ExamineLine returns the command line of x.
func ExamineLine(a *protocol.Args) string {
	line := "x"
	if a.Format != "" {
		line += "/" + a.Format
	}
	return strings.TrimSpace(line + " " + a.Expr)
}

// memoryText matches a line of x: "=> 0x5555 <main+4>:\tmov ...".
var memoryText = pattern.New(`^(=> |   )?(0x[0-9a-f]+)(?: <([^>]*)>)?:\t?(.*)$`)

// ParseMemoryLine splits a line of x. addr is "" if it is no such line; value is the line then.
func ParseMemoryLine(line string) (row MemoryRow, addr, value string) {
	found := memoryText.FindStringSubmatch(line)
	if found == nil {
		return MemoryRow{}, "", line
	}
	row = MemoryRow{Label: found[3], Here: found[1] == "=> "}
	return row, found[2], withoutAddresses(found[4])
}

// IsFormat reports whether a text may follow the slash of a format: a count, formats and sizes.
func IsFormat(f string) bool {
	for i := range len(f) {
		if c := f[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' && i == 0) {
			return false
		}
	}
	return len(f) <= 16
}

// InvalidFormat is the refusal of what is no format.
func InvalidFormat(f string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultUsage, Message: strconv.Quote(f) + " is not a format", Hint: "x, d, u, o, t, a, c, f, s, i; for x also a count and a size: 4xw"}
}

// FormatCount returns the count of a format, 1 if it has none.
func FormatCount(f string) int {
	n, err := strconv.Atoi(strings.TrimRight(f, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 1
	}
	return n
}
