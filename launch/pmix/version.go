// Releases of libpmix and what their servers do.

package pmix

import (
	"fmt"
	"strconv"

	"sdm/protocol/pattern"
)

// Version is the release of a libpmix. The zero value is an unknown release.
type Version struct{ Major, Minor, Patch int }

// versionText finds the numbers in "5.0.7a1", "v7.0.0rc1" and "OpenPMIx 4.2.2 (PMIx Standard: …)".
var versionText = pattern.New(`\b[vV]?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?`)

// ParseVersion returns the first version in a text.
func ParseVersion(text string) (Version, error) {
	found := versionText.FindStringSubmatch(text)
	if found == nil {
		return Version{}, fmt.Errorf("%q holds no version", text)
	}
	var n [3]int
	for i, digits := range found[1:] {
		n[i], _ = strconv.Atoi(digits) // at most four digits; an absent patch is 0
	}
	return Version{n[0], n[1], n[2]}, nil
}

func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// IsKnown reports whether the version is not the zero value.
func (v Version) IsKnown() bool { return v != Version{} }

// Reaches returns why a tool with library v cannot connect to a server with library s; nil: it
// can. Seen: 7.0.0rc1 fails with UNREACH at 5.0.7 and 4.2.2; 4.2.2 and 5.0.7 connect to all three.
// libpmix does not tell the reason.
func (v Version) Reaches(s Version) error {
	if v.Major >= 7 && s.IsKnown() && s.Major <= 5 {
		return fmt.Errorf("libpmix %s of sdm-pmix cannot reach a server with libpmix %s (build sdm-pmix with libpmix 4.2 or 5.0: they reach all)", v, s)
	}
	return nil
}

// Abilities says what a server does as documented. It is known by version, because servers claim
// more: both PRRTE 3.0.8 and 5.0.0rc1 list all of it.
type Abilities struct {
	StopOnExec  bool // of several ranks; else spawns hang and ranks die
	Allocation  bool // PMIX_ALLOC_* of a spawn
	Environment bool // directives for a variable that is in the server's own environment
	Log         bool // PMIx_Log
	// InputElsewhere is the standard input of a process that is not on the server's own host, if a process of
	// another job with the same rank is there.
	InputElsewhere bool
}

// abilities lists versions of servers from new to old. PRRTE 3.0.14 does StopOnExec as well, but
// its libpmix does not tell it from 3.0.8.
var abilities = []struct {
	from Version
	Abilities
}{
	{Version{Major: 7}, Abilities{StopOnExec: true, Environment: true, Log: true, InputElsewhere: true}},
	{Version{}, Abilities{}},
}

// AbilitiesOf returns what servers of a version do.
func AbilitiesOf(v Version) Abilities {
	for _, row := range abilities {
		if v.Major >= row.from.Major {
			return row.Abilities
		}
	}
	return Abilities{}
}
