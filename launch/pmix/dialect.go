// Which starters hold their ranks when an option tells them to.

package pmix

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sdm/launch"
	"sdm/protocol/pattern"
)

// Dialect is what sdm knows of a starter of PRRTE's family.
type Dialect struct {
	Name    string  // "Open MPI" or "PRRTE"
	Version Version // of Name
}

func (d Dialect) String() string { return d.Name + " " + d.Version.String() }

// versionWait bounds the answer to --version. It takes 20 ms.
const versionWait = 5 * time.Second

// DialectOf asks a command that is named like a starter for its version. found is false for
// starters of other families, and for Open MPI before release 5, which has no PMIx server for
// tools. The error is that the command has not answered in time.
func DialectOf(ctx context.Context, command string, env []string) (d Dialect, found bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, versionWait, fmt.Errorf("%v are over", versionWait))
	defer cancel()
	out, err := launch.Ask(ctx, env, []string{command, "--version"})
	if ctx.Err() != nil {
		return d, false, err
	}
	if err != nil || len(out) > maxFile {
		return d, false, nil
	}
	d, found = readDialect(out)
	return d, found, nil
}

// banner is the first line of the answer: "mpirun (Open MPI) 5.0.7", "prterun (PRRTE) 3.0.8".
var banner = pattern.New(`^\S+ \((Open MPI|PRRTE)\) (\S+)`)

func readDialect(text string) (d Dialect, found bool) {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	parts := banner.FindStringSubmatch(line)
	if parts == nil {
		return d, false
	}
	v, err := ParseVersion(parts[2])
	if err != nil || parts[1] == "Open MPI" && v.Major < 5 {
		return d, false
	}
	return Dialect{parts[1], v}, true
}

// Before reports whether the version is older than another.
func (v Version) Before(w Version) bool {
	return slices.Compare([]int{v.Major, v.Minor, v.Patch}, []int{w.Major, w.Minor, w.Patch}) < 0
}

// Held returns the line of a starter with the option that holds the ranks in MPI_Init. The option
// was renamed in PRRTE 3.0.13, which came with Open MPI 5.0.10. An option that a starter does not
// know ends it before it starts anything. The single option --stop-in-init is not used: 3.0.8
// ignores it silently.
func (d Dialect) Held(argv []string, stop Stop) []string {
	since := Version{3, 0, 13}
	if d.Name == "Open MPI" {
		since = Version{5, 0, 10}
	}
	option := "--rtos"
	if d.Version.Before(since) {
		option = "--runtime-options"
	}
	return slices.Concat(argv[:1], []string{option, "stop-in-" + string(stop)}, argv[1:])
}
