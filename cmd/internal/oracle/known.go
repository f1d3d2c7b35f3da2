package oracle

import (
	"regexp"
	"slices"
	"strings"
)

// Known is a defect that somebody is mending: where it shows, a session is not
// compared any further. The test counts each one that it meets, so that none is
// passed over silently, and a mended defect is removed here.
type Known struct {
	Defect string
	Words  []string       // empty is all
	Ends   string         // how the names of programs end; "" is all
	GDB    *regexp.Regexp // fits what gdb says; nil fits all
	SDM    *regexp.Regexp // fits what sdm says; nil fits all
}

// known are the defects of today.
var known = []Known{
	{"notices of gdb are swallowed", nil, "", regexp.MustCompile(`(?m)^(Note: |[Ww]arning:|Error in (re-setting|testing))`), nil},
	{"watchpoints after run", []string{"run", "start"}, "", regexp.MustCompile(`watchpoint \d+`), nil},
	{"breakpoints that cannot be set again", []string{"run", "start", "starti"}, "", nil, regexp.MustCompile(`could not be set again`)},
	{"start in Fortran stops before the program", []string{"start"}, "", regexp.MustCompile(`\.f90:`), nil},
	{"watch -l of a type without a name", []string{"watch", "rwatch", "awatch"}, "", nil, regexp.MustCompile(`syntax error in expression, near .\{\.\.\.`)},
	{"variables that are optimised out are not shown", []string{"info locals", "backtrace", "info stack"}, "", regexp.MustCompile(`(?m)^ *\w+ = <optimized out>$`), nil},
	{"breakpoints at places that are not there do not always wait", []string{"break", "tbreak", "hbreak", "thbreak"}, "", regexp.MustCompile(`pending\.$`), nil},
	{"breakpoints that were deleted are deleted again without a word", nil, "", regexp.MustCompile(`No breakpoint number`), regexp.MustCompile(`^$`)},
	{"list FUNCTION, looks into another file", []string{"list"}, "", nil, regexp.MustCompile(`out of range; .* has \d+ lines`)},
	{"displays are shown outside the block that they were made in", nil, "", nil, regexp.MustCompile(`(?m)^\d+: .* = `)},
	{"clear alone names a line", []string{"clear"}, "", regexp.MustCompile(`No breakpoint at this line`), nil},
}

// KnownAs gives the defect that a difference shows; nil if it is a new one.
func KnownAs(program, word, gdb, sdm string) *Known {
	for i, k := range known {
		if strings.HasSuffix(program, k.Ends) && (len(k.Words) == 0 || slices.Contains(k.Words, word)) && (k.GDB == nil || k.GDB.MatchString(gdb)) && (k.SDM == nil || k.SDM.MatchString(sdm)) {
			return &known[i]
		}
	}
	return nil
}
