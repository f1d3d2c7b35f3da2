package mpir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sdm/protocol"
)

// Attach is a running job, found by the process of its starter. It is a
// launch.Launcher; the starter is never stopped.
type Attach struct {
	pid     int
	starter *process
	flagged bool // we have set MPIR_being_debugged
	filled  bool // … and what CoLaunch sets
}

// Find looks for the starter of a running job: the process itself, or one that
// it has called (a script, a shell). isRank tells which processes say that they are ranks: those of Open MPI have
// mapped the library that has the variables of the starter, and have no table in it. The error is a *NoStarter if there is none.
func Find(pid int, isRank func(pid int) bool) (*Attach, error) {
	if _, err := os.Stat(procFile(pid, "stat")); err != nil {
		return nil, fmt.Errorf("there is no process %d (ps lists them; is it on another host?)", pid)
	}
	p, err := openStarter(pid, isRank)
	if err == nil {
		return &Attach{pid: pid, starter: p}, nil
	}
	if !errors.Is(err, errNoMPIR) && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, child := range descendants(pid) {
		if p, err := openStarter(child, isRank); err == nil {
			return &Attach{pid: child, starter: p}, nil
		}
	}
	exe, _ := os.Readlink(procFile(pid, "exe"))
	return nil, &NoStarter{PID: pid, Program: exe}
}

// openStarter opens a process that offers the interface, and is not a rank; the error is errNoMPIR otherwise.
func openStarter(pid int, isRank func(pid int) bool) (*process, error) {
	p, err := openProcess(pid)
	if err != nil {
		return nil, err
	}
	if n, err := tableSize(p); err == nil && n == 0 && isRank(pid) {
		p.close()
		return nil, errNoMPIR
	}
	return p, nil
}

// NoStarter is the error that neither a process nor one that it has called
// offers MPIR.
type NoStarter struct {
	PID     int
	Program string // path
}

func (n *NoStarter) Error() string {
	return fmt.Sprintf("process %d (%s) offers no MPIR interface", n.PID, n.Program)
}

// Limits of the wait for a table that the starter makes when it is asked to.
const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = 250 * time.Millisecond
)

// Acquire implements launch.Launcher. A starter may make its table only when
// MPIR_being_debugged is set; it is then awaited, until ctx is over.
func (a *Attach) Acquire(ctx context.Context, say func(string)) (protocol.Proctable, error) {
	began, said := time.Now(), false
	for pause := firstPoll; ; pause = min(2*pause, lastPoll) {
		n, err := tableSize(a.starter)
		if err == nil {
			err = aborted(a.starter)
		}
		if err != nil {
			return nil, a.failed(err)
		}
		if n > 0 {
			return ReadTable(a.starter)
		}
		if !a.flagged {
			if err := writeInt(a.starter, symBeingDebugged, 1); err != nil {
				return nil, a.failed(err)
			}
			a.flagged = true
		}
		if time.Since(began) > patience && !said {
			said = true
			say(fmt.Sprintf("waiting for the starter (process %d) to list its ranks", a.pid))
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("the starter (process %d) has not listed its ranks in %v (MPIR_proctable_size is 0): %w",
				a.pid, time.Since(began).Round(time.Second), err)
		}
	}
}

// failed says whether the starter has gone meanwhile.
func (a *Attach) failed(err error) error {
	if _, gone := os.Stat(procFile(a.pid, "stat")); gone != nil {
		return fmt.Errorf("the starter (process %d) has ended", a.pid)
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// JobID names the job for tools: MPIR_job_id, srun's, or the starter's process.
func (a *Attach) JobID() string { return identify(a.starter) }

// StarterPID is the process of the starter.
func (a *Attach) StarterPID() int { return a.pid }

// CoLaunch has the starter of the running job start a daemon on each node, as the
// function CoLaunch has one that launches: it is told by its attach FIFO, and
// when it is not heard nothing has been changed. The job runs on meanwhile.
func (a *Attach) CoLaunch(path string, args []string) error {
	bell, err := a.openFIFO()
	if err != nil {
		return err
	}
	defer bell.Close()
	a.filled = true
	if err := CoLaunch(a.starter, path, args); err != nil {
		return err
	}
	if err := writeInt(a.starter, symBeingDebugged, 1); err != nil {
		return a.failed(err)
	}
	a.flagged = true
	if _, err := bell.Write([]byte{fifoAttach}); err != nil {
		return fmt.Errorf("the starter does not hear that we attach: %w", err)
	}
	return nil
}

// fifoAttach is what a starter reads when a tool attaches (MPIR, 7.2).
const fifoAttach = 1

// openFIFO opens the starter's attach FIFO, which it must be reading.
func (a *Attach) openFIFO() (*os.File, error) {
	addr, room, found := a.starter.Symbol(symFIFO)
	if !found {
		return nil, ErrNoFIFO
	}
	path, err := readText(a.starter, addr, int(min(room, maxProgram)))
	switch {
	case err != nil:
		return nil, err
	case path == "":
		return nil, ErrNoFIFO
	}
	// O_NONBLOCK: without a reader it is an error.
	f, err := os.OpenFile(filepath.Join(procFile(a.pid, "root"), path), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("the starter does not listen at its attach FIFO: %w", err)
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		f.Close()
		return nil, fmt.Errorf("the starter's attach FIFO, %s, is none", path)
	}
	return f, nil
}

// Release implements launch.Launcher: nothing is held.
func (a *Attach) Release() error { return nil }

// End implements launch.Launcher: the starter is left as it was found.
func (a *Attach) End(context.Context) error {
	a.restore()
	a.starter.close()
	return nil
}

// restore takes back what we have written into the starter, which may have ended.
func (a *Attach) restore() {
	if a.filled {
		clearText(a.starter, symPath)
		clearText(a.starter, symArguments)
	}
	if a.flagged {
		writeInt(a.starter, symBeingDebugged, 0)
	}
}

func identify(p *process) string {
	if id := jobID(p); id != "" {
		return id
	}
	return strconv.Itoa(p.pid)
}

// descendants are the processes below one, nearest first.
func descendants(pid int) []int {
	below := map[int][]int{}
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, d := range dirs {
		child, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if parent := parentOf(child); parent > 0 {
			below[parent] = append(below[parent], child)
		}
	}
	var all []int
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		all = append(all, below[queue[0]]...)
		queue = append(queue, below[queue[0]]...)
	}
	return all
}

// parentOf reads /proc/PID/stat (proc(5)); 0 if the process is gone.
func parentOf(pid int) int {
	b, err := os.ReadFile(procFile(pid, "stat"))
	if err != nil {
		return 0
	}
	text := string(b)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name may hold anything
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}
