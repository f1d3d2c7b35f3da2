package launch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// RanksBelow looks for the ranks of a starter without MPIR among the processes
// below it on this host: those that find a number in their environment and whose
// parent does not have the same. Host stays empty. None is no error; that the
// job has more of them than this host is.
func RanksBelow(pid int) (protocol.Proctable, error) {
	parents := parentsOf()
	var table protocol.Proctable
	size, numbers := 0, map[int]int{}
	for child := range parents {
		if !isBelow(parents, child, pid) {
			continue
		}
		id := identityOf(child)
		if id.Number == Unknown || id.Number > int(rank.MaxID) || identityOf(parents[child]).Number == id.Number {
			continue // no rank, or what a rank has started
		}
		if other, twice := numbers[id.Number]; twice {
			return nil, fmt.Errorf("processes %d and %d are both rank %d", other, child, id.Number)
		}
		numbers[id.Number] = child
		size = max(size, id.Size)
		table = append(table, protocol.Process{Rank: rank.ID(id.Number), PID: child})
	}
	if len(table) > 0 && len(table) < size {
		return nil, fmt.Errorf("%d of its %d ranks are on other hosts", size-len(table), size)
	}
	sort.Slice(table, func(i, j int) bool { return table[i].Rank < table[j].Rank })
	return table, nil
}

// RanksOfJob looks for the ranks of a job on this host, by the name that its
// starter has given it in their environment (PMIX_NAMESPACE, PMI_JOBID, Slurm's
// JOB.STEP). size is that of the whole job, Unknown if nobody says. None is an
// error.
func RanksOfJob(id, host string) (table protocol.Proctable, size int, err error) {
	size = Unknown
	numbers := map[int]int{}
	for pid, parent := range parentsOf() {
		own := identityOf(pid)
		if own.Job != id || own.Number == Unknown || own.Number > int(rank.MaxID) || own.Host != "" && own.Host != host || identityOf(parent).Job == id {
			continue
		}
		if other, twice := numbers[own.Number]; twice {
			return nil, 0, fmt.Errorf("processes %d and %d are both rank %d of job %s", other, pid, own.Number, id)
		}
		numbers[own.Number] = pid
		size = max(size, own.Size)
		table = append(table, protocol.Process{Rank: rank.ID(own.Number), Host: host, PID: pid})
	}
	if len(table) == 0 {
		return nil, 0, fmt.Errorf("no process on %s belongs to job %s (is it PMIX_NAMESPACE, PMI_JOBID or Slurm's JOB.STEP, as in their environment?)", host, id)
	}
	sort.Slice(table, func(i, j int) bool { return table[i].Rank < table[j].Rank })
	return table, size, nil
}

// NumberPids gives processes of this host the ranks that they find in their own
// environment. One without such a number is rank self, if it is alone.
func NumberPids(pids protocol.Proctable, self int) (table protocol.Proctable, size int, err error) {
	size = Unknown
	for _, p := range pids {
		id := identityOf(p.PID)
		switch {
		case id.Number != Unknown:
			p.Rank = rank.ID(id.Number)
		case len(pids) == 1 && self >= 0:
			p.Rank = rank.ID(self)
		default:
			return nil, 0, fmt.Errorf("process %d does not say which rank it is (is it a rank, and yours?)", p.PID)
		}
		size = max(size, id.Size)
		table = append(table, p)
	}
	return table, size, table.Check()
}

// identityOf reads the environment of a process; one that is gone, not ours to
// read, or strange has no number.
func identityOf(pid int) Identity {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	id, err := Identify(strings.Split(string(b), "\x00"))
	if err != nil {
		id.Number = Unknown
	}
	return id
}

func isBelow(parents map[int]int, pid, top int) bool {
	for seen := 0; pid > 1 && seen <= len(parents); seen++ {
		if pid = parents[pid]; pid == top {
			return true
		}
	}
	return false
}

// parentsOf gives the parent of every process of this host.
func parentsOf() map[int]int {
	parents := map[int]int{}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil // the pattern is a good one
	}
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // gone meanwhile
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		// proc(5): pid (name) state ppid …; the name may hold anything
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		if len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(string(fields[1]))
		}
	}
	return parents
}
