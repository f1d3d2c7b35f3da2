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
var known []Known

// KnownAs gives the defect that a difference shows; nil if it is a new one.
func KnownAs(program, word, gdb, sdm string) *Known {
	for i, k := range known {
		if strings.HasSuffix(program, k.Ends) && (len(k.Words) == 0 || slices.Contains(k.Words, word)) && (k.GDB == nil || k.GDB.MatchString(gdb)) && (k.SDM == nil || k.SDM.MatchString(sdm)) {
			return &known[i]
		}
	}
	return nil
}
