// Running jobs, found by their starter with MPIR.

package mpir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"sdm/launch"
	"sdm/protocol"
)

// Attach is a running job, found by the process of its starter. It is a launch.Launcher. It never
// stops the starter.
type Attach struct {
	pid     int
	starter *process
	flagged bool // MPIR_being_debugged has been set
	filled  bool // the variables of CoLaunch have been set
}

// Find looks for the starter of a running job: the process itself, or one of its descendants (the
// process may be a script or a shell), which are given nearest first. isRank reports whether a
// process has the environment of a rank, and whether it is one for sure. Ranks of Open MPI have mapped the
// library with the MPIR variables of the starter, but have no table in it. Descendants that are ranks for
// sure are not looked at, and of others one of each program. The error is a *NoStarter if there is no starter.
func Find(pid int, descendants []int, isRank func(pid int) (is, sure bool)) (*Attach, error) {
	if _, err := os.Stat(procFile(pid, "stat")); err != nil {
		if inside := launch.InsideAs(pid); inside != 0 {
			return nil, fmt.Errorf("there is no process %d here; process %d has that number in its container", pid, inside)
		}
		return nil, fmt.Errorf("there is no process %d: it has ended, or is on another host (ps lists those of this host)", pid)
	}
	passed := files{}
	is, _ := isRank(pid)
	p, err := openStarter(pid, is, passed)
	if err == nil {
		return &Attach{pid: pid, starter: p}, nil
	}
	if !errors.Is(err, errNoMPIR) && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	ranks := map[string]bool{} // programs of ranks that have been passed
	for _, child := range descendants {
		program := programOf(child)
		is, sure := isRank(child)
		if sure || is && ranks[program] {
			continue // there may be hundreds of them
		}
		p, err := openStarter(child, is, passed)
		if err == nil {
			return &Attach{pid: child, starter: p}, nil
		}
		ranks[program] = ranks[program] || is && program != ""
	}
	return nil, &NoStarter{PID: pid, Program: programOf(pid)}
}

// programOf returns the path of the program of a process; "" if it cannot be read.
func programOf(pid int) string {
	path, _ := os.Readlink(procFile(pid, "exe"))
	return path
}

// openStarter opens a process that has MPIR and is not a rank; otherwise the error is errNoMPIR.
func openStarter(pid int, isRank bool, passed files) (*process, error) {
	p, err := openProcess(pid, passed)
	if err != nil {
		return nil, err
	}
	if n, err := tableSize(p); err == nil && n == 0 && isRank {
		p.close()
		return nil, errNoMPIR
	}
	return p, nil
}

// NoStarter is the error that neither a process nor a descendant of it has MPIR.
type NoStarter struct {
	PID     int
	Program string // path
}

func (n *NoStarter) Error() string {
	return fmt.Sprintf("process %d (%s) offers no MPIR interface", n.PID, n.Program)
}

// Intervals at which a table that the starter makes on request is polled.
const (
	firstPoll = 5 * time.Millisecond
	lastPoll  = 250 * time.Millisecond
)

// Acquire implements launch.Launcher. Some starters make their table only when MPIR_being_debugged
// is set; then Acquire sets it and waits for the table until ctx ends.
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
			return nil, &NotListed{PID: a.pid, After: time.Since(began), Cause: err}
		}
	}
}

// NotListed is the error that a starter has not listed its ranks in time. Open MPI's does when all of them have called
// MPI_Init.
type NotListed struct {
	PID   int // of the starter
	After time.Duration
	Cause error // of the context
}

func (n *NotListed) Error() string {
	return fmt.Sprintf("the starter (process %d) has not listed its ranks in %v (MPIR_proctable_size is 0; has a rank not called MPI_Init?): %v",
		n.PID, n.After.Round(time.Second), n.Cause)
}

// Unwrap returns the cause.
func (n *NotListed) Unwrap() error { return n.Cause }

// HasTable reports whether the starter has listed its ranks already. It only reads the starter's memory, so
// it may be called at any time, also before the starter decides whether it holds its ranks for a debugger.
func (a *Attach) HasTable() bool {
	table, err := ReadTable(a.starter)
	return err == nil && len(table) > 0
}

// failed returns err, or, if the starter has ended, an error that says so.
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

// JobID returns the job's name for tools: MPIR_job_id, srun's totalview_jobid, or the starter's
// process id.
func (a *Attach) JobID() string { return identify(a.starter) }

// StarterPID returns the process id of the starter.
func (a *Attach) StarterPID() int { return a.pid }

// CoLaunch has the starter of the running job start a daemon on each node, as the function
// CoLaunch does for a job that is launched. The starter is notified by its attach FIFO. If it does
// not read the FIFO, CoLaunch returns an error and changes nothing. The job is not stopped.
func (a *Attach) CoLaunch(path string, args []string) error {
	fifo, err := a.openFIFO()
	if err != nil {
		return err
	}
	defer fifo.Close()
	a.filled = true
	if err := CoLaunch(a.starter, path, args); err != nil {
		return err
	}
	if err := writeInt(a.starter, symBeingDebugged, 1); err != nil {
		return a.failed(err)
	}
	a.flagged = true
	if _, err := fifo.Write([]byte{fifoAttach}); err != nil {
		return fmt.Errorf("the starter does not hear that we attach: %w", err)
	}
	return nil
}

// fifoAttach is the byte that a starter reads when a tool attaches (MPIR, 7.2).
const fifoAttach = 1

// openFIFO opens the starter's attach FIFO. It fails if the starter does not read it.
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
	// With O_NONBLOCK a FIFO without a reader is an error.
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

// End implements launch.Launcher. It restores the starter's variables.
func (a *Attach) End(context.Context) error {
	a.restore()
	a.starter.close()
	return nil
}

// restore undoes the writes to the starter's memory. Errors are ignored: the starter may have
// ended.
func (a *Attach) restore() {
	if a.filled {
		clearText(a.starter, symPath)
		clearText(a.starter, symArguments)
	}
	if a.flagged {
		writeInt(a.starter, symBeingDebugged, 0)
	}
}

// identify implements JobID.
func identify(p *process) string {
	if id := jobID(p); id != "" {
		return id
	}
	return strconv.Itoa(p.pid)
}
