// Processes that ranks have started: their stacks, and what they do for which ranks may wait.

package sampler

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"sdm/backend/probe/internal/kernelcall"
	"sdm/backend/probe/internal/proc"
	"sdm/protocol/digest"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

const (
	// maxChildrenOf bounds the processes of a rank that are read. A pool has one for each processor at most.
	maxChildrenOf = 64
	// maxChildren bounds the processes of all ranks of the host.
	maxChildren = 256
	// maxCounted bounds the processes of a rank that are looked for.
	maxCounted = 1024
)

// Family are processes that ranks have started, and those that these have started.
type Family struct {
	Cost
	by     string // granularity of its stacks
	pids   []int
	names  []string
	parent []int // index of the rank
	found  []Sample
	left   map[int]int // by index of a rank, how many were not read since they are too many
}

// Family reads the processes that ranks have started, a moment after the ranks. pids are the processes of the ranks,
// and which are the indices of those that are wanted. ranks are the processes of all ranks, which are in no family.
// They are held one after the other, since they are not compared. What is known of them is kept for the next sample,
// but no files are open.
func (s *Sampler) Family(pids, which []int, ranks map[int]bool, o Options) *Family {
	f := &Family{by: o.By, left: map[int]int{}}
	for _, i := range which {
		all := descendants(pids[i], proc.Children, ranks)
		n := min(len(all), maxChildrenOf, maxChildren-len(f.pids))
		for _, pid := range all[:n] {
			f.pids, f.parent = append(f.pids, pid), append(f.parent, i)
			f.names = append(f.names, kernelcall.Shown(proc.Name(pid)))
		}
		f.left[i] = len(all) - n
	}
	for _, pid := range s.started {
		if !ranks[pid] && !slices.Contains(f.pids, pid) {
			s.Forget(pid)
		}
	}
	s.started = f.pids
	o.Explain, o.Progress, o.Registers = false, false, nil
	if o.By == "function" { // to tell whether they wait for work needs files
		o.By = "line"
	}
	for _, pid := range f.pids {
		r := s.takeMore([]int{pid}, o)
		f.found = append(f.found, r.Samples[0])
		f.Add(r.Cost)
		w := r.Samples[0].Waits
		o.Hurried = o.Hurried || w != nil && w.Unheld // that was waited for, and is enough
		if p := s.processes[pid]; p != nil {
			p.files.Close()
		}
	}
	return f
}

// descendants returns the processes that a process has started, and the ones that these have started, except this one
// and ranks, with what they have started. children returns the processes that one has started.
func descendants(pid int, children func(int) []int, ranks map[int]bool) (all []int) {
	seen := map[int]bool{pid: true, os.Getpid(): true}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, child := range children(next[0]) {
			if len(all) == maxCounted {
				return all
			}
			if !seen[child] && !ranks[child] {
				seen[child] = true
				all, next = append(all, child), append(next, child)
			}
		}
	}
	return all
}

// Describe says of ranks that wait outside of MPI, and for no thread that is known, what one process of their families
// does: one that computes, else one that waits in code of the user. samples are of the ranks. A process that was
// not read may go on, so nothing of its rank is certain, as if the rank had not been held.
func (f *Family) Describe(samples []Sample) {
	best := map[int]int{} // by index of the rank, index of the process that is described
	unread := map[int]bool{}
	for i, n := range f.left {
		unread[i] = n > 0 && samples[i].MayWaitForChild()
	}
	for k := range f.found {
		s, i := &f.found[k], f.parent[k]
		switch {
		case !samples[i].MayWaitForChild() || errors.Is(s.Err, ErrEnded) || errors.Is(s.Err, fs.ErrNotExist):
			continue
		case s.Waits == nil:
			unread[i] = true
			continue
		case s.Waits.Unheld || s.Waits.Doing.State == wait.Unread:
			if unread[i] = true; s.Waits.Doing.State != wait.Traced {
				continue
			}
		default:
			w := samples[i].Waits
			hash := digest.New()
			addNumber(hash, w.children)
			addNumber(hash, s.Waits.stamp)
			w.children = hash.Sum()
		}
		if old, known := best[i]; !known || s.urgency() > f.found[old].urgency() {
			best[i] = k
		}
	}
	for i, k := range best {
		if f.found[k].urgency() > 0 {
			samples[i].Waits.describeChild(f.pids[k], f.names[k], f.found[k].Waits)
		}
	}
	for i, is := range unread {
		if is {
			samples[i].Waits.children, samples[i].Waits.Unheld = 0, true
		}
	}
}

// Stacks returns the stacks of the family of rank i, each below a frame that names the process.
func (f *Family) Stacks(i int) (all [][]stack.Frame) {
	for k := range f.found {
		if f.parent[k] != i {
			continue
		}
		head := stack.Process(f.pids[k], f.names[k])
		if f.by == "function" { // equal stacks of all ranks are one
			head = stack.Process(0, f.names[k])
		}
		if err := f.found[k].Err; err != nil {
			all = append(all, []stack.Frame{head, {Func: "(not read: " + err.Error() + ")"}})
		}
		for _, t := range f.found[k].Threads {
			frames := append([]stack.Frame{head}, t...)
			for n := range frames {
				if f.by == "function" {
					frames[n].File, frames[n].Line = "", 0
				}
			}
			all = append(all, frames)
		}
	}
	if n := f.left[i]; n > 0 {
		all = append(all, []stack.Frame{stack.LeftProcesses(n)})
	}
	return all
}

// MayWaitForChild reports whether the first thread waits for something that a child may do.
func (s *Sample) MayWaitForChild() bool {
	if s.Err != nil || s.Waits == nil || s.Waits.inCall || s.Waits.Unheld {
		return false
	}
	d := &s.Waits.Doing
	return d.State == wait.Sleeping && d.For == 0 && !d.Lock && len(d.Others) < wait.MaxThreads
}

// urgency tells how much a child may be what its parent waits for: 2, it computes; 1, it waits, though not for work; 0,
// it waits for work.
func (s *Sample) urgency() int {
	switch {
	case len(s.Threads) == 0 || isIdle(s.Threads[0]):
		return 0
	case s.Waits.Doing.State == wait.Running && s.Waits.Doing.Does == "":
		return 2
	}
	return 1
}

// isIdle reports whether a process of Python's multiprocessing is in no function of the user. frames are of its
// first thread, outermost first. After a fork the functions of the parent are on its stack.
func isIdle(frames []stack.Frame) bool {
	for i := len(frames) - 1; i >= 0; i-- {
		if frames[i].Func == "BaseProcess._bootstrap" {
			frames = frames[i:]
			break
		}
	}
	python, user := false, false
	for i, f := range frames {
		helper := i+1 < len(frames) && ofMultiprocessing(frames[i+1]) // which starts them with python -c
		own := ofLibrary(f.File) || helper
		python = python || isPython(f)
		user = user || isPython(f) && !own
	}
	return python && !user
}

func ofMultiprocessing(f stack.Frame) bool { return strings.Contains(f.File, "/multiprocessing/") }

// describeChild says what a child does. Its own threads have numbers of their own, and are left out.
func (w *Waits) describeChild(pid int, name string, child *Waits) {
	t := child.Doing.First()
	t.Number, t.Name = wait.FirstProcess+pid, name
	if t.For != 0 {
		t.For, t.Lock = 0, false
	}
	w.Doing.For = t.Number
	w.Doing.Others = append(w.Doing.Others, t)
}
