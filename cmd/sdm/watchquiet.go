// Whether a job writes output, for sdm watch --quiet-for.

package main

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// quietEvery is the time between two looks at the output.
const quietEvery = 250 * time.Millisecond

// silence says when output was silent for a time. It is pure, and told once until there is output again.
type silence struct {
	wait time.Duration
	last time.Time // when output was seen last
	look time.Time // when was looked last
	told bool
}

// step enters a look, and reports whether the silence is to be told now. Time in which this process was stopped, and
// perhaps the job as well, does not count.
func (s *silence) step(now time.Time, wrote bool) bool {
	if late := now.Sub(s.look); late > 8*quietEvery {
		s.last = s.last.Add(late)
	}
	s.look = now
	if wrote {
		s.last, s.told = now, false
	}
	if s.told || now.Sub(s.last) < s.wait {
		return false
	}
	s.told = true
	return true
}

// ears notices writes to the standard output and the standard error of a process, whatever they are: inotify(7) tells
// of writes to pipes and terminals too. Nothing is between the job and them, and nothing is read.
//
// Goroutine: one that looks at each interval, until close.
type ears struct {
	fd    int
	files *outputs // on file systems of other hosts inotify does not tell
	size  int64
	due   chan time.Duration // receives how long it was silent
	over  chan struct{}
	group sync.WaitGroup
	mu    sync.Mutex // is held while inotify is read
}

// listen begins to listen to files, by their names.
func listen(paths []string, files *outputs) (*ears, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("--quiet-for: inotify: %w", err)
	}
	for _, path := range paths {
		if _, err := unix.InotifyAddWatch(fd, path, unix.IN_MODIFY); err != nil {
			unix.Close(fd)
			return nil, fmt.Errorf("--quiet-for: it cannot be seen whether the job writes output: %s: %w", path, err)
		}
	}
	e := &ears{fd: fd, files: files, size: files.size(), over: make(chan struct{})}
	e.due = make(chan time.Duration, 1)
	return e, nil
}

// outputOf returns the names of the standard output and the standard error of a process.
func outputOf(pid int) []string {
	return []string{fmt.Sprintf("/proc/%d/fd/1", pid), fmt.Sprintf("/proc/%d/fd/2", pid)}
}

// follow starts the goroutine. wait is how long it may be silent.
func (e *ears) follow(wait time.Duration) {
	now := time.Now()
	s := &silence{wait: wait, last: now, look: now}
	e.group.Go(func() { e.loop(s) })
}

func (e *ears) loop(s *silence) {
	tick := time.NewTicker(quietEvery)
	defer tick.Stop()
	for {
		select {
		case <-e.over:
			return
		case <-tick.C:
		}
		now := time.Now()
		if !s.step(now, e.wrote()) {
			continue
		}
		select {
		case e.due <- now.Sub(s.last):
		default: // it is being looked at
		}
	}
}

// wrote reports whether something was written since the last call.
func (e *ears) wrote() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.size
	e.size = e.files.size()
	return e.drain() || e.size != before
}

// drain reads what inotify has told.
func (e *ears) drain() (some bool) {
	var b [4096]byte
	for {
		n, err := unix.Read(e.fd, b[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return some
		}
		some = true
	}
}

// forget forgets what was written since the last look: by us, about the job. nil ears hear nothing.
func (e *ears) forget() {
	if e != nil {
		e.wrote()
	}
}

// silent returns the channel that receives how long it was silent; nil ears never say so.
func (e *ears) silent() <-chan time.Duration {
	if e == nil {
		return nil
	}
	return e.due
}

func (e *ears) close() {
	if e == nil {
		return
	}
	close(e.over)
	e.group.Wait()
	unix.Close(e.fd)
}

// listen begins to listen to the output of a process, if the user wants to know of its silence.
func (w *watch) listen(pid int) (err error) {
	if w.o.quietFor == 0 {
		return nil
	}
	if pid == 0 {
		return fmt.Errorf("--quiet-for: of which process is the output? (give the PID of the starter or the starter's line, not %s)", w.o.target)
	}
	if w.ears, err = listen(outputOf(pid), w.out); err == nil {
		w.ears.follow(w.o.quietFor)
	}
	return err
}

// remark shows a message to the user, which is no output of the job.
func (w *watch) remark(said string) {
	w.app.remark(said)
	w.ears.forget()
}
