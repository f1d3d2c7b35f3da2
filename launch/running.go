// Jobs that run on this host, for a list.

package launch

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
)

// Running is a job with a starter or ranks on this host.
type Running struct {
	Starter int    // its process; 0: it is on another host, or none that is known
	Name    string // as its starter tells the ranks, "" if it does not
	Size    int    // number of all its ranks; Unknown if it is not known
	Ranks   []int  // the processes of its ranks on this host, by number
	Program string // of a rank, or of the starter
}

// RunningJobs returns the jobs of this user on this host, by their first processes. isStarter and isOurs tell by its
// executable what a process is: a starter, or one of those below which no job is listed.
func (f RankFrom) RunningJobs(isStarter, isOurs func(exe string) bool) []Running {
	ps := f.scan()
	exes := map[int]string{}
	for pid := range ps {
		if ownedByUs(procOf(pid, "")) {
			exes[pid], _ = os.Readlink(procOf(pid, "exe")) // "": it is gone
		}
	}
	return ps.running(exes, isStarter, isOurs)
}

// running is RunningJobs for the processes whose executables are given.
func (ps processes) running(exes map[int]string, isStarter, isOurs func(exe string) bool) []Running {
	type key struct {
		starter int
		name    string
	}
	found := map[key]*Running{}
	for _, pid := range ps.ids() {
		exe, own := exes[pid]
		starter, ours := ps.topmost(pid, exes, isStarter, isOurs)
		isRank := ps.isRank(ps[pid]) && !isStarter(exe)
		if !own || ours || !isRank && starter != pid {
			continue
		}
		k := key{starter: starter}
		if starter == 0 {
			k.name = ps[pid].jobName()
		}
		if found[k] == nil {
			found[k] = &Running{Starter: starter, Size: Unknown, Program: exes[starter]}
		}
		if j := found[k]; isRank {
			j.Ranks = append(j.Ranks, pid)
			j.Name, j.Program, j.Size = ps[pid].jobName(), exe, max(j.Size, ps[pid].Size)
		}
	}
	var all []Running
	for _, j := range found {
		slices.SortFunc(j.Ranks, func(a, b int) int {
			return cmp.Or(cmp.Compare(ps[a].Number, ps[b].Number), cmp.Compare(a, b))
		})
		j.Program = filepath.Base(j.Program)
		all = append(all, *j)
	}
	first := func(j Running) int {
		if j.Starter != 0 {
			return j.Starter
		}
		return j.Ranks[0]
	}
	slices.SortFunc(all, func(a, b Running) int { return cmp.Compare(first(a), first(b)) })
	return all
}

// topmost returns the uppermost starter of a process, which may be itself; 0: it has none. ours tells that there is one
// of ours above it.
func (ps processes) topmost(pid int, exes map[int]string, isStarter, isOurs func(exe string) bool,
) (starter int, ours bool) {
	for seen := 0; pid > 1 && seen <= len(ps); seen++ {
		exe, own := exes[pid]
		switch {
		case own && isOurs(exe):
			return starter, true
		case own && isStarter(exe):
			starter = pid
		}
		pid = ps[pid].parent
	}
	return starter, false
}
