package oracle

import (
	"regexp"
	"slices"
)

// Known is a defect that somebody is mending: where it shows, a session is not
// compared any further. The test counts each one that it meets, so that none is
// passed over silently, and a mended defect is removed here.
type Known struct {
	Defect string
	Words  []string       // empty is all
	GDB    *regexp.Regexp // fits what gdb says; nil fits all
	SDM    *regexp.Regexp // fits what sdm says; nil fits all
}

// known are the defects of today.
var known = []Known{
	{"notices of gdb are swallowed", nil, regexp.MustCompile(`(?m)^(Note: |[Ww]arning:|Error in (re-setting|testing))`), nil},
	{"what continue N does is not said", []string{"continue"}, regexp.MustCompile(`Not stopped at any breakpoint|Will ignore next`), nil},
	{"ranks that share a gdb: jump is refused", []string{"jump"}, nil, regexp.MustCompile(`Unreasonable jump request`)},
	{"ranks that share a gdb: until and advance", []string{"until", "advance"}, nil, nil},
	{"list beyond the end does not say how many lines there are", nil, regexp.MustCompile(`out of range; .* has \d+ lines`), nil},
	{"breakpoints that were deleted are deleted again without a word", nil, regexp.MustCompile(`No breakpoint number`), regexp.MustCompile(`^$`)},
}

// KnownAs gives the defect that a difference shows; nil if it is a new one.
func KnownAs(word, gdb, sdm string) *Known {
	for i, k := range known {
		if (len(k.Words) == 0 || slices.Contains(k.Words, word)) && (k.GDB == nil || k.GDB.MatchString(gdb)) && (k.SDM == nil || k.SDM.MatchString(sdm)) {
			return &known[i]
		}
	}
	return nil
}
