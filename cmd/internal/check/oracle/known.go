// Known differences that are defects still to be fixed.

package oracle

import (
	"regexp"
	"slices"
	"strings"
)

// Known is a known defect that is being fixed. A session is not compared beyond it. The test counts
// the occurrences of each, so that none is ignored silently. A fixed defect is removed here.
type Known struct {
	Defect string
	Words  []string       // empty: all
	Ends   string         // suffix of program names; "": all
	GDB    *regexp.Regexp // matches gdb's text; nil: any
	SDM    *regexp.Regexp // matches sdm's text; nil: any
}

// known are the current defects.
var known []Known

// KnownAs returns the defect that explains a difference; nil if it is a new one.
func KnownAs(program, word, gdb, sdm string) *Known {
	for i, k := range known {
		if strings.HasSuffix(program, k.Ends) && (len(k.Words) == 0 || slices.Contains(k.Words, word)) &&
			(k.GDB == nil || k.GDB.MatchString(gdb)) && (k.SDM == nil || k.SDM.MatchString(sdm)) {
			return &known[i]
		}
	}
	return nil
}
