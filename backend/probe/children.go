// Processes that ranks have started, and for which they may wait.

package probe

import (
	"slices"
	"strings"

	"sdm/backend/probe/kernelcall"
	"sdm/backend/probe/proc"
	"sdm/protocol/digest"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

const (
	// mostChildrenOf bounds the children of a rank that are read. A pool has one for each processor at most.
	mostChildrenOf = 32
	// mostChildren bounds those of all ranks of the host.
	mostChildren = 256
)

// addChildren says of ranks that wait outside of MPI, and for no thread that is known, what one of their children does:
// one that computes, else one that waits in code of the user. pids are those of the ranks, and samples what was read of
// them. What the children do is read a moment later.
func (c *cache) addChildren(pids []int, samples []sample) {
	var all, parent []int // children, and the indices of their parents
	for i := range samples {
		if !samples[i].mayWaitForChild() {
			continue
		}
		children := slices.DeleteFunc(proc.Children(pids[i]), func(pid int) bool { return slices.Contains(pids, pid) })
		for _, pid := range children[:min(len(children), mostChildrenOf, mostChildren-len(all))] {
			all, parent = append(all, pid), append(parent, i)
		}
	}
	if len(all) == 0 {
		return
	}
	cost, explain, progress := c.cost, c.explain, c.progress
	c.explain, c.progress = false, false
	found := c.take(all, view{by: "line"})
	c.cost.threads, c.cost.held = c.cost.threads+cost.threads, max(c.cost.held, cost.held)
	c.explain, c.progress = explain, progress
	best := map[int]int{} // by index of the parent, index of the child that is described
	unread := map[int]bool{}
	for k := range found {
		s := &found[k]
		c.forget(all[k])
		if s.err != nil || s.waits == nil {
			continue
		}
		w := samples[parent[k]].waits
		if s.waits.Unheld || s.waits.Doing.State == wait.Unread { // it cannot be compared with other samples
			unread[parent[k]] = true
			continue
		}
		hash := digest.New()
		addNumber(hash, w.children)
		addNumber(hash, s.waits.stamp)
		w.children = hash.Sum()
		if old, known := best[parent[k]]; !known || s.urgency() > found[old].urgency() {
			best[parent[k]] = k
		}
	}
	for i := range unread {
		samples[i].waits.children = 0
	}
	for i, k := range best {
		if found[k].urgency() > 0 {
			samples[i].waits.describeChild(all[k], found[k].waits)
		}
	}
}

// mayWaitForChild reports whether the first thread waits for something that a child may do.
func (s *sample) mayWaitForChild() bool {
	if s.err != nil || s.waits == nil || s.waits.inCall || s.waits.Unheld {
		return false
	}
	d := &s.waits.Doing
	return d.State == wait.Sleeping && d.For == 0 && !d.Lock && len(d.Others) < wait.MaxThreads
}

// urgency tells how much a child may be what its parent waits for: 2, it computes; 1, it waits, though not for work; 0,
// it waits for work.
func (s *sample) urgency() int {
	switch {
	case len(s.threads) == 0 || isIdle(s.threads[0]):
		return 0
	case s.waits.Doing.State == wait.Running && s.waits.Doing.Does == "":
		return 2
	}
	return 1
}

// isIdle reports whether a process of Python's multiprocessing is in no function of the user. frames are those of its
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
func (w *waits) describeChild(pid int, child *waits) {
	t := child.Doing.First()
	t.Number, t.Name = wait.FirstProcess+pid, kernelcall.Shown(proc.Name(pid))
	if t.For != 0 {
		t.For, t.Lock = 0, false
	}
	w.Doing.For = t.Number
	w.Doing.Others = append(w.Doing.Others, t)
}
