// Finds the ranks of a starter that was started without a debugger, as sdm watch does.

package job

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sdm/cmd/internal/servers"
	"sdm/launch"
	"sdm/launch/flux"
	"sdm/launch/mpir"
	"sdm/protocol"
)

// Started looks for the ranks of a starter that this process has started as without sdm. It never holds or
// changes the starter or a rank: as long as that might be, the ranks are not there yet.
type Started struct {
	Spec  Spec
	PID   int           // of the starter, or of a script that calls it
	Quiet time.Duration // how long what was found must have been the same
	Any   bool          // a tree of processes without a starter and ranks is watched as well, each process as a rank

	seen  string // the target that was found last
	since time.Time
}

// Target returns the argument of Attach for the ranks that run now; "": they are not there yet, or not all of
// them. Pids are the processes of ranks on this host, if these are all.
func (s *Started) Target(now time.Time) (target string, pids []int) {
	target, pids = s.find()
	if target != s.seen {
		s.seen, s.since = target, now
	}
	if target == "" || now.Sub(s.since) < s.Quiet {
		return "", nil
	}
	return target, pids
}

// Current returns a function that reports whether the processes that Target has returned are still the ranks. A
// process may be a shell that starts the rank later, or a script that calls a starter later.
func (s *Started) Current(pids []int) func() bool {
	from := s.finder().ranks()
	before := from.Beneath(pids)
	if len(pids) > 1 && pids[0] == s.PID { // not ranks, but all processes
		return func() bool { return slices.Equal(pids, s.tree()) }
	}
	return func() bool {
		if len(pids) == 1 && pids[0] == s.PID && len(launch.FamilyOf(s.PID).Descendants()) > 0 {
			return false
		}
		return maps.Equal(before, from.Beneath(pids))
	}
}

func (s *Started) finder() finder {
	return finder{Builder: &servers.Builder{Spec: s.Spec.Servers}, job: &s.Spec}
}

// find looks once.
func (s *Started) find() (target string, pids []int) {
	f := s.finder()
	whole := strconv.Itoa(s.PID)
	family := launch.FamilyOf(s.PID)
	table, err := f.ranks().RanksBelow(family)
	switch {
	case err != nil: // some are on other hosts, or will be: these exist, so the starter has decided about all
		return whole, nil
	case len(table) > 0:
		return pidsOf(table)
	}
	if _, known := flux.Of(s.PID); known {
		return whole, nil
	}
	below := family.Descendants()
	starter, err := mpir.Find(s.PID, below, f.isOnlyRank)
	if err == nil {
		defer starter.End(context.Background())
		if starter.HasTable() {
			return whole, nil
		}
		return "", nil
	}
	exe, _ := os.Readlink("/proc/" + whole + "/exe")
	if !slices.Contains(Starters, StarterName(exe)) && len(below) == 0 {
		return "pids:" + whole, []int{s.PID}
	}
	if s.Any && !slices.ContainsFunc(append(below, s.PID), startsRanks) {
		return named(s.tree())
	}
	return "", nil
}

// startsRanks reports whether a process is a starter, also one that an interpreter executes.
func startsRanks(pid int) bool {
	exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	words := strings.SplitN(string(line), "\x00", 3)
	return slices.ContainsFunc(append(words[:min(len(words), 2)], exe), func(word string) bool {
		return slices.Contains(Starters, StarterName(word))
	})
}

// maxProcesses bounds the processes of a tree without ranks that are watched: those nearest to the first one.
const maxProcesses = 256

// tree returns the processes of the starter's tree, itself first.
func (s *Started) tree() []int {
	all := append([]int{s.PID}, launch.FamilyOf(s.PID).Descendants()...)
	return all[:min(len(all), maxProcesses)]
}

// Now returns the targets by which the job may be looked at now, the better one first: its ranks if they are there, and
// all processes of the tree, whatever they are.
func (s *Started) Now() (targets []string) {
	if target, _ := s.find(); target != "" {
		targets = append(targets, target)
	}
	all, _ := named(s.tree())
	return append(targets, all)
}

// named returns the target that names processes, the first of which is rank 0.
func named(pids []int) (string, []int) {
	texts := make([]string, len(pids))
	for i, pid := range pids {
		texts[i] = strconv.Itoa(pid)
	}
	return "pids:" + strings.Join(texts, ","), pids
}

// pidsOf returns the target that names processes in the order of their ranks; "" if these are not 0 to n-1.
func pidsOf(table protocol.Proctable) (target string, pids []int) {
	for i, p := range table {
		if int(p.Rank) != i {
			return "", nil
		}
		pids = append(pids, p.PID)
	}
	return named(pids)
}
