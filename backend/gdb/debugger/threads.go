// The threads of a rank.

package debugger

import (
	"slices"
	"strconv"

	"sdm/backend/gdb/values"
	"sdm/backend/mi"
)

// Thread returns a thread by gdb's global number, and adds it if it is unknown. In a
// gdb with one rank both numbers are equal; otherwise threads are counted here, as gdb counts the
// threads of each inferior.
func (c *core) Thread(n int) *values.Thread {
	if th := c.threads.ByGDB(n); th != nil {
		return th
	}
	c.counted++
	th := &values.Thread{ID: c.counted, GDB: n}
	if !c.GDB.Shared() && !c.Child && !c.recounts {
		th.ID = n
	}
	c.threads = append(c.threads, th)
	slices.SortFunc(c.threads, func(a, b *values.Thread) int { return a.ID - b.ID })
	return th
}

// GDBThread returns the number of a thread for commands. For an unknown thread it returns a number
// that gdb refuses, not the number of another rank's thread.
func (c *core) GDBThread(id int) string {
	if th := c.threads.Find(id); th != nil {
		return strconv.Itoa(th.GDB)
	}
	if !c.GDB.Shared() {
		return strconv.Itoa(id)
	}
	return strconv.Itoa(noThread + id)
}

// noThread is larger than all numbers of threads that gdb assigns.
const noThread = 1 << 20

// setRunning processes *running,thread-id="all" or a number.
func (c *core) setRunning(id string) {
	if id == "all" {
		for _, th := range c.threads {
			th.Running = true
		}
		return
	}
	if n, err := strconv.Atoi(id); err == nil {
		c.Thread(n).Running = true
	}
}

// setStopped processes *stopped: the thread that stopped, and those that stopped with
// it; in non-stop mode there are none.
func (c *core) setStopped(stop mi.Tuple) (first *values.Thread) {
	id, ok := stop.Int("thread-id")
	if !ok {
		return nil
	}
	first = c.Thread(id)
	first.Running, first.Stop = false, values.OneReason(stop)
	with, _ := stop.Get("stopped-threads")
	if with.Kind == mi.String && with.Str == "all" {
		for _, th := range c.threads {
			th.Running = false
		}
	}
	return first
}

// unreportedStop makes the missing *stopped from the answer to -list-thread-groups, for a
// thread that is marked as running and has stopped, if possible for the selected one; false if there is none.
func (c *core) unreportedStop(info mi.Tuple) (stop mi.Tuple, stands bool) {
	list, _ := info.Get("threads")
	for _, f := range list.Fields {
		th := f.Value.Fields
		n, _ := th.Int("id")
		t := c.threads.ByGDB(n)
		if t == nil || !t.Running || th.Str("state") != "stopped" || stands && t.ID != c.chosen.Thread {
			continue
		}
		frame, _ := th.Get("frame")
		stop, stands = mi.Tuple{{Name: "frame", Value: frame}, {Name: "thread-id", Value: mi.Value{Str: th.Str("id")}}}, true
	}
	return stop, stands
}

// reportedThread returns the thread whose stop is reported: the first with a reason of its
// own, otherwise the selected one.
func (c *core) reportedThread(r *run) *values.Thread {
	first := c.threads.Find(r.stopped)
	if first != nil && values.OwnReason(first.Stop) {
		return first
	}
	for _, t := range c.threads {
		if values.OwnReason(t.Stop) {
			return t
		}
	}
	if t := c.threads.Find(c.chosen.Thread); t != nil {
		return t
	}
	if first != nil {
		return first
	}
	return c.threads[0]
}
