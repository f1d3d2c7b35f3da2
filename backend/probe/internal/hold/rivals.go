// Other processes that trace the same threads: debuggers, and other samplers.

package hold

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"sdm/backend/probe/internal/proc"
)

// Tracer is what traces threads of a process in our place. The zero value is none.
type Tracer struct {
	TID  int    // thread that traces, or hiddenTracer; 0: none
	Name string // of the thread; "": it is not known
	// Passing: it is a sampler that lets go again, or several tracers have followed one another. What the process does is
	// not known. One that is not passing is a debugger that stays.
	Passing bool
}

// hiddenTracer stands for a tracer that is not seen from here: one outside of this container.
const hiddenTracer = -1

// samplers are the names of programs that hold processes for an instant only.
var samplers = []string{"sdm-server", "sdm"}

// seizeOne attaches to a thread (PTRACE_SEIZE), and returns why that is not possible; "": it was done. It sets Tracer.
func (p *Process) seizeOne(tid int) (why string) {
	for again := true; ; again = false {
		err := unix.PtraceSeize(tid)
		if err == nil {
			return ""
		}
		s := proc.StatusOf(p.PID, tid)
		if s.Tracer == 0 && s.State == "t" {
			s.Tracer = hiddenTracer
		}
		switch {
		case errors.Is(err, unix.ESRCH) || s.HasEnded():
			return ended
		case s.Tracer != 0:
			p.Tracer = Tracer{TID: s.Tracer, Name: proc.Name(s.Tracer)}
			return p.Tracer.Why()
		case !again:
			return err.Error()
		} // else the tracer may have let go meanwhile
	}
}

// Why says why a thread cannot be stopped.
func (t Tracer) Why() string { return "traced by " + cmp.Or(t.Name, "another process") }

// yields reports whether the tracer is a sampler, or has ended.
func (t Tracer) yields() bool {
	return slices.Contains(samplers, t.Name) || t.Name == "" && t.TID > 0
}

// rivals is a wait for other tracers.
type rivals struct {
	until   time.Time
	lasting []int         // not waited for, by index of the process
	first   map[int]int   // the first tracer that was met, by index
	several map[int]bool  // those that have met several
	rest    unix.Timespec // between looks
}

// Looks at a tracer are so far apart; the part differs between samplers.
const (
	rivalEach = 500 * time.Microsecond
	rivalPart = 50 * time.Microsecond
)

func newRivals(patience time.Duration, lasting []int) *rivals {
	part := rivalPart * time.Duration(unix.Getpid()%8)
	w := &rivals{lasting: lasting, rest: unix.NsecToTimespec(int64(rivalEach + part))}
	if patience > 0 {
		w.until = time.Now().Add(patience)
	}
	return w
}

// isRival reports whether a tracer of process i is to be waited for.
func (w *rivals) isRival(i int, p *Process) bool {
	t := p.Tracer.TID
	if t == 0 || w.until.IsZero() || i < len(w.lasting) && w.lasting[i] == t {
		return false
	}
	if w.first == nil {
		w.first, w.several = map[int]int{}, map[int]bool{}
	}
	if before, met := w.first[i]; met && before != t {
		w.several[i] = true
	}
	w.first[i] = t
	return time.Now().Before(w.until)
}

// letGo waits until a thread of process i has another tracer than it had, or none, or the time has passed.
func (w *rivals) letGo(i int, p *Process) {
	traced := slices.IndexFunc(p.Threads, func(t Thread) bool { return t.Why != "" && t.Why != ended })
	for time.Now().Before(w.until) {
		rest := w.rest
		_ = unix.Nanosleep(&rest, nil) // a signal may end it early
		s := proc.StatusOf(p.PID, p.Threads[traced].TID)
		if s.Tracer != max(p.Tracer.TID, 0) || p.Tracer.TID == hiddenTracer && s.State != "t" {
			return
		}
	}
}

// judge tells which of the tracers that remain are passing.
func (w *rivals) judge(all []Process) {
	for i := range all {
		if t := &all[i].Tracer; t.TID != 0 {
			t.Passing = w.several[i] || t.yields()
		}
	}
}
