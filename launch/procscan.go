// Ranks among the processes of this host, by their environments and parents.

package launch

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// RanksBelow returns the ranks of a starter without MPIR among its descendants on this host:
// processes with a rank in their environment whose parent does not have the same one. Host stays
// empty. Without ranks the table is empty. It is an error if ranks of the job are on other hosts.
func (f RankFrom) RanksBelow(starter Family) (protocol.Proctable, error) {
	starter.identify(f)
	return starter.ps.ranksBelow(starter.pid)
}

// RanksOfJob returns the ranks of a job on this host, by the name that its starter sets in their
// environment (PMIX_NAMESPACE, PMI_JOBID, Slurm's JOB.STEP). The number of a Slurm job alone names
// the ranks that another starter has started in it: mpirun, whose helpers are the tasks of the
// step if there is a step. torchrun:ID and torchrun:ADDRESS:PORT name jobs of torchrun. It is an
// error if there is no rank; the text names the jobs that are there. The error is a *SeveralJobs if
// several jobs have the name.
func (f RankFrom) RanksOfJob(id, host string) (protocol.Proctable, Whole, error) {
	return f.scan().ranksOfJob(id, host)
}

// Whole is the job to which the ranks of a host belong.
type Whole struct {
	Name string // as in the environment of its ranks, "" if it has none
	Size int    // number of its ranks; Unknown if it is not known
}

// SeveralJobs is the error that several jobs have a name.
type SeveralJobs struct {
	Asked string
	Jobs  []string // their full names, at least two
}

func (e *SeveralJobs) Error() string {
	most := min(len(e.Jobs), maxListed)
	text := fmt.Sprintf("%s is several jobs: %s", e.Asked, strings.Join(e.Jobs[:most], ", "))
	if most < len(e.Jobs) {
		text += fmt.Sprintf(" and %d more", len(e.Jobs)-most)
	}
	if strings.Contains(text, onHost) {
		return text + " (name the host of one: --hosts HOST)"
	}
	return text + " (give one of these names)"
}

// onHost separates the name of a job from its host, if the name needs one (see jobsOf).
const onHost = " on "

// maxListed bounds the names of jobs in an error.
const maxListed = 16

// processes are the processes of this host by id.
type processes map[int]process

type process struct {
	parent int
	Identity
	elsewhere bool // its network namespace is not this host's
}

// isOn reports whether a process runs on the given host, which is this one. A process with the
// network of this host does, whatever its starter calls the host. One with another network (a
// container) does if its starter names this host.
func (p process) isOn(host string) bool {
	return !p.elsewhere || p.Host != "" && protocol.SameHost(p.Host, host)
}

// scan reads all processes of this host.
func (f RankFrom) scan() processes {
	found := processes{}
	for pid, parent := range Parents() {
		p := process{parent: parent, Identity: f.identityOf(pid)}
		p.elsewhere = p.Number != Unknown && !isOfOurNet(pid)
		found[pid] = p
	}
	return found
}

// ids returns the process ids in order, so that the same one of several errors is always returned.
func (ps processes) ids() []int { return slices.Sorted(maps.Keys(ps)) }

// isRank reports whether a process has a rank that its parent does not have: the children of a
// rank inherit its environment.
func (ps processes) isRank(p process) bool {
	parent, known := ps[p.parent]
	inherited := known && parent.Number == p.Number && sameJob(parent.Job, p.Job)
	return p.Number != Unknown && p.Number <= int(rank.MaxID) && !inherited
}

func (ps processes) ranksBelow(top int) (protocol.Proctable, error) {
	var t table
	if err := ps.addBelow(&t, "", top); err != nil {
		return nil, err
	}
	if len(t.rows) > 0 && len(t.rows) < t.size {
		return nil, fmt.Errorf("%d of its %d ranks are on other hosts", t.size-len(t.rows), t.size)
	}
	return t.sorted(), nil
}

// addBelow adds the ranks below a process to a table.
func (ps processes) addBelow(t *table, host string, top int) error {
	for _, pid := range ps.ids() {
		p := ps[pid]
		if !ps.isBelow(pid, top) || !ps.isRank(p) {
			continue
		}
		if err := t.add(host, pid, p); err != nil {
			return err
		}
	}
	return nil
}

func (ps processes) ranksOfJob(id, host string) (protocol.Proctable, Whole, error) {
	t := table{size: Unknown}
	var others []string
	if several := ps.torchrunJobs(id, host); len(several) > 1 {
		return nil, Whole{}, &SeveralJobs{id, several}
	}
	job := ""
	for _, pid := range ps.ids() {
		p := ps[pid]
		if !ps.isRank(p) || !p.isOn(host) {
			continue
		}
		if !p.isOf(id) {
			for _, name := range []string{p.jobName(), p.Within} {
				if name != "" && !slices.Contains(others, name) {
					others = append(others, name)
				}
			}
			continue
		}
		if err := t.add(host, pid, p); err != nil {
			return nil, Whole{}, fmt.Errorf("job %s: %w%s", id, err, duplicateHint(p.Within))
		}
		job = p.jobName()
	}
	if len(t.rows) == 0 {
		return nil, Whole{}, fmt.Errorf("no process on %s belongs to job %s (%s)", host, id, jobsHere(others))
	}
	return t.sorted(), Whole{job, t.size}, nil
}

// duplicateHint returns what to do if two processes have one rank; within is Identity.Within of one.
func duplicateHint(within string) string {
	if within == "" {
		return ""
	}
	return " (has mpirun been called twice in the job? the PID of one mpirun names its ranks)"
}

// jobsHere lists the jobs of this host, for users.
func jobsHere(names []string) string {
	const most = 4
	if len(names) == 0 {
		return "nor to any other that tells its name in PMIX_NAMESPACE, PMI_JOBID, SLURM_JOB_ID or the like"
	}
	sort.Strings(names)
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += ", ..."
	}
	return "there are ranks of " + text
}

// isBelow reports whether a process is a descendant of top.
func (ps processes) isBelow(pid, top int) bool {
	for seen := 0; pid > 1 && seen <= len(ps); seen++ {
		if pid = ps[pid].parent; pid == top {
			return true
		}
	}
	return false
}

// table is a proctable under construction.
type table struct {
	rows protocol.Proctable
	size int // of the job
	pids map[int]int
}

func (t *table) add(host string, pid int, p process) error {
	if other, twice := t.pids[p.Number]; twice {
		return fmt.Errorf("processes %d and %d are both rank %d", min(other, pid), max(other, pid), p.Number)
	}
	if t.pids == nil {
		t.pids = map[int]int{}
	}
	t.pids[p.Number] = pid
	t.size = max(t.size, p.Size)
	t.rows = append(t.rows, protocol.Process{Rank: rank.ID(p.Number), Host: host, PID: pid})
	return nil
}

func (t *table) sorted() protocol.Proctable {
	sort.Slice(t.rows, func(i, j int) bool { return t.rows[i].Rank < t.rows[j].Rank })
	return t.rows
}

// slurmPMIx is the prefix of JOB.STEP in the namespaces of Slurm's PMIx plugin.
const slurmPMIx = "slurm.pmix."

// sameJob reports whether two names mean the same job. The prefix of Slurm's PMIx plugin does not
// count, because users omit it.
func sameJob(own, name string) bool {
	return strings.TrimPrefix(own, slurmPMIx) == strings.TrimPrefix(name, slurmPMIx)
}

// NumberPids gives processes of this host the ranks from their environments. A process that has
// none is an error; but if it is the only one and self is not negative, it gets the rank self.
func (f RankFrom) NumberPids(pids protocol.Proctable, self int) (table protocol.Proctable, size int, err error) {
	size = Unknown
	for _, p := range pids {
		id := f.identityOf(p.PID)
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

// IsRank reports whether a process has a rank in its environment. sure is false if that is of a resource manager: a
// shell that was started as a task passes it on to a starter, which is no rank.
func (f RankFrom) IsRank(pid int) (is, sure bool) {
	id := f.identityOf(pid)
	is = id.Number != Unknown
	return is, is && !slices.ContainsFunc(managers, func(m starter) bool { return m.rank == id.Source })
}

// EnvironOf returns the environment of a process; it is empty if the process is gone or cannot be
// read.
func EnvironOf(pid int) []string {
	b, _ := os.ReadFile(procOf(pid, "environ"))
	return splitEnviron(b)
}

// splitEnviron reads the text of /proc/PID/environ (proc(5)).
func splitEnviron(b []byte) []string { return strings.Split(string(b), "\x00") }

// procOf returns the path of a file of a process (proc(5)).
func procOf(pid int, name string) string {
	return filepath.Join("/proc", strconv.Itoa(pid), name)
}

// SlurmJobOf returns the Slurm job in which a process was started; "" if there is none.
func SlurmJobOf(pid int) string { return lookup(EnvironOf(pid))["SLURM_JOB_ID"] }

// identityOf returns the identity of a process from its environment. Number is Unknown if the
// process is gone, cannot be read, or has an invalid identity.
func (f RankFrom) identityOf(pid int) Identity {
	id, err := f.Identify(EnvironOf(pid))
	if err != nil {
		id.Number = Unknown
	}
	return id
}

// Parents returns the parent of every process of this host (proc(5), stat) without the threads of the kernel.
// Processes that end meanwhile may be missing.
func Parents() map[int]int {
	parents := map[int]int{}
	dir, err := os.Open("/proc")
	if err != nil {
		return parents
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // those that were read before an error
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if parent, known := parentOf(pid); known {
			parents[pid] = parent
		}
	}
	return parents
}

// kernelThread is PF_KTHREAD of include/linux/sched.h of the kernel.
const kernelThread = 0x00200000

// parentOf returns the parent of a process; known is false if it has ended, or is a thread of the kernel. It makes
// three system calls, a third of those that os.ReadFile makes: a host may have thousands of processes.
func parentOf(pid int) (parent int, known bool) {
	fd, err := syscall.Open(procOf(pid, "stat"), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer syscall.Close(fd)
	var b [512]byte // the fields that are read come first; a name has at most 64 bytes
	n, err := syscall.Read(fd, b[:])
	if err != nil {
		return 0, false
	}
	return parseParent(string(b[:n]))
}

// parseParent returns the result of parentOf for a text of stat: pid (name) state ppid pgrp session tty tpgid flags
// …; the name may hold anything.
func parseParent(stat string) (parent int, known bool) {
	fields := strings.SplitN(stat[strings.LastIndexByte(stat, ')')+1:], " ", 9)
	if len(fields) < 9 {
		return 0, false
	}
	parent, err := strconv.Atoi(fields[2])
	flags, failed := strconv.ParseUint(fields[7], 10, 64)
	return parent, err == nil && failed == nil && flags&kernelThread == 0
}
