// Jobs of mpirun of Open MPI before release 5 (ORTE). It has MPIR, but lists its ranks only when all
// of them have called MPI_Init. Until then they are found as those of PRRTE, its successor, are.

package launch

import (
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ORTE returns the job of a starter of Open MPI before release 5 whose daemons are on other hosts.
// pid is the process of the family that is the starter.
func (f Family) ORTE(pid int) (PRRTE, bool) {
	if filepath.Base(programOf(pid)) != "orterun" {
		return PRRTE{}, false
	}
	lines := f.lines()
	f.identify(RankFrom{})
	j := f.ps.readPRRTE(pid, lines)
	j.Namespace = ""
	for _, p := range slices.Sorted(maps.Keys(lines)) {
		if job := orteJob(lines[p]); job != "" && f.ps.isBelow(p, pid) {
			j.Namespace = job
			break
		}
	}
	return j, j.Namespace != "" && j.Elsewhere()
}

// orteJob returns the PMIX_NAMESPACE of the ranks, from the command by which a starter starts its
// daemons on another host; "" if it is no such command. It is the number of the daemons' own job and
// one: the ranks are the first job that is started.
func orteJob(argv []string) string {
	words := strings.Fields(strings.Join(argv, " ")) // for a remote shell the daemon's command line is one argument
	number := strings.Trim(after(words, "ess_base_jobid"), `"'`)
	if n, err := strconv.ParseUint(number, 10, 32); err == nil {
		return strconv.FormatUint(n+1, 10)
	}
	return ""
}
