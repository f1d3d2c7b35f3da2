// The loop's entry for each gdb.

package gdb

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/indexcache"
	"sdm/backend/gdb/inferior"
	"sdm/backend/mi"
	"sdm/protocol"
)

// gdbProcess is one gdb: its process with its streams, and what it does. The ranks that share
// it have an entry each.
type gdbProcess struct {
	number       int32
	root         string // of its ranks, see backend.Target
	debugger     *debugger.Debugger
	process      *process // nil before it has started and after its end
	parser       mi.Parser
	entries      []*rankEntry // in the order of Debugger.Machines
	waiting      bool         // the process is being started
	restarted    bool         // it was started again; see tooOld
	touched      bool
	crashed      bool // its gdb was ended by a signal
	serverEnv    bool // it was started with Config.OwnEnvironment
	inputFull    bool // gdb's stdin is full; the poller watches it
	broken       bool // see giveUp: the output of gdb is ignored
	pendingInput []byte
	first        []byte // its first commands, until it has answered
}

// commandLine returns the command line of a gdb.
func (l *loop) commandLine(k *gdbProcess) []string {
	interpreter := "mi4"
	if l.beforeMI4 {
		interpreter = "mi3"
	}
	line := l.e.cfg.commandLine(interpreter, l.indexes.Dir(k.number), k.debugger.DefersSymbols,
		k.entries[0].machine.Target.AllStop)
	if k.root != "" { // gdb itself enters another mount namespace only with the rights of root
		line = append(line, "-iex", "set sysroot "+k.root)
	}
	return line
}

// tooOld restarts a gdb that has ended because it does not know mi4, and reports whether it has. Such a gdb has
// not executed any command.
func (l *loop) tooOld(k *gdbProcess, cause string) bool {
	if l.closing || k.first == nil || k.restarted || !strings.Contains(cause, "mi4") {
		return false
	}
	l.beforeMI4, k.restarted = true, true
	k.pendingInput, k.inputFull = k.first, false
	k.parser = mi.Parser{Want: debugger.WantsRecord}
	l.startGDB(k, k.entries[0].machine.Target.Held)
	return true
}

// newGDBProcess makes the entry of a gdb of n ranks.
func (l *loop) newGDBProcess(n int) *gdbProcess {
	l.last++
	k := &gdbProcess{number: l.last, debugger: debugger.New(n)}
	k.parser.Want = debugger.WantsRecord
	k.debugger.Eager, k.debugger.Abort.Off = l.e.cfg.EagerSymbols, l.e.cfg.IgnoreAborts
	d := k.debugger
	d.Send = func() { l.write(k, d.Take()) }
	l.gdbs[k.number] = k
	return k
}

// startGDB makes the forker start the process, or takes one that was started before. The previous process, if any,
// must have ended.
func (l *loop) startGDB(k *gdbProcess, dies bool) {
	k.waiting, k.debugger.Old, k.debugger.DebugOutput = true, l.beforeMI4, l.beforeMI4
	if !l.takeAhead(k, dies) {
		l.forker.start(order{argv: l.commandLine(k), env: l.environmentOf(k), dies: dies,
			before: borrowIndexes(l.indexes, k.number, nil), done: l.whenStarted(k)})
	}
}

var errEnding = errors.New("the session is ending")

// started takes over a gdb from the forker.
func (l *loop) started(k *gdbProcess, p *process, err error) {
	k.waiting = false
	l.touch(k)
	if err == nil && l.closing && k.isAttached() {
		k.process, err = p, errEnding
	}
	if err == nil {
		k.process = p
		if k.isAttached() {
			l.custody.Debugger(p.pid)
		}
		k.debugger.Started(l.e.cfg.path(), l.now())
		for fd, stream := range map[int]stream{p.stdout: streamOutput, p.stderr: streamErrors, p.pidfd: streamEnd} {
			if err == nil {
				err = l.e.poll.add(fd, k.number, stream)
			}
		}
	}
	if err != nil {
		if p != nil {
			p.kill()
			p.reap()
			p.close()
			k.process = nil
			l.custody.Forget(p.pid)
		}
		f := notReady(err)
		if f == nil {
			f = noGDB(l.commandLine(k)[0], err)
		}
		l.guard(k, func() {
			for _, m := range k.debugger.Machines {
				m.NotStarted(l.now(), f)
			}
		})
		l.remove(k)
		return
	}
	l.write(k, k.pendingInput)
	k.first, k.pendingInput = k.pendingInput, nil
	if l.closing {
		k.close(l)
	}
	if l.forced {
		p.kill()
	}
}

// unready is why a rank cannot be handed to a gdb that is about to be started.
type unready struct{ error }

// notReady returns the fault for such an error; nil: the error is another one.
func notReady(err error) *protocol.Fault {
	var u unready
	switch {
	case !errors.As(err, &u):
		return nil
	case errors.Is(u.error, fs.ErrNotExist), errors.Is(u.error, syscall.ESRCH), errors.Is(u.error, io.EOF):
		return &protocol.Fault{Kind: protocol.FaultEngine, Message: "its process has ended"}
	}
	return &protocol.Fault{Kind: protocol.FaultEngine, Message: u.Error()}
}

func noGDB(path string, err error) *protocol.Fault {
	var e *exec.Error // its text repeats the path
	if errors.As(err, &e) {
		err = e.Err
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	hint := "install gdb, or name one with --gdb PATH"
	switch {
	case errors.Is(err, syscall.EMFILE):
		hint = "raise the limit of open files for sdm and its servers: ulimit -n"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		hint = "no further process can be started: ulimit -u, ulimit -v, memory of the control group"
	}
	return &protocol.Fault{Kind: protocol.FaultEngine, Message: fmt.Sprintf("cannot start %s: %v", path, err), Hint: hint}
}

// processEnded processes the rest of gdb's output, and then its end.
func (l *loop) processEnded(k *gdbProcess) {
	if k.process == nil {
		return
	}
	for l.readOutput(k) {
	}
	for l.readErrors(k) {
	}
	how := k.process.reap()
	k.crashed = how.Crashed
	k.process.kill() // the processes that gdb has started
	k.process.close()
	l.custody.Forget(k.process.pid)
	k.process = nil
	l.returnIndexes(k)
	if l.tooOld(k, how.Cause) || l.restartWithServerEnv(k, how) {
		return
	}
	var orphans []*debugger.Machine
	l.guard(k, func() { orphans = k.debugger.Died(l.now(), how, !l.closing) })
	if deadly := k.debugger.Killer(); deadly != "" {
		for _, s := range l.entries {
			s.machine.Avoid(deadly)
		}
	}
	l.recoverRanks(k, orphans)
	l.touch(k)
	l.remove(k)
}

// children returns the children of a rank that its gdb traces, except those that are ranks themselves.
func (k *gdbProcess) children(s *rankEntry) []*inferior.Process {
	return slices.DeleteFunc(s.target.Children(k.process.pid), func(c *inferior.Process) bool {
		isRank := slices.ContainsFunc(k.entries, func(o *rankEntry) bool { return o.target.PID() == c.PID() })
		if isRank {
			c.Close()
		}
		return isRank
	})
}

// removeFromChildren removes the breakpoints from the children of a rank that its gdb traces.
func (l *loop) removeFromChildren(k *gdbProcess, s *rankEntry) {
	if k.process == nil {
		return
	}
	for _, c := range k.children(s) {
		if err := c.RemoveFromChild(); err != nil {
			l.log().Warn("breakpoints may be left in a child of a rank", "process", c.PID(), "err", err)
		}
		c.Close()
	}
}

// recoverRanks starts a gdb for each of some ranks of a gdb that has ended.
func (l *loop) recoverRanks(k *gdbProcess, orphans []*debugger.Machine) {
	for _, m := range orphans {
		s := k.entries[slices.IndexFunc(k.entries, func(s *rankEntry) bool { return s.machine == m })]
		s.target.Signal(syscall.SIGSTOP)
		var before func() error
		if pid := m.Target.PID; !m.IsCore() {
			before = func() error { return inferior.RemoveBreakpoints(pid) }
		}
		l.giveOwn(k, s, false, before)
	}
}

// handOver starts a gdb for a rank from which its shared gdb has detached.
func (l *loop) handOver(k *gdbProcess, s *rankEntry) {
	deferSymbols := k.debugger.DefersSymbols && s.machine.Symbols.Deferred
	l.guard(k, func() { k.debugger.Release(l.now(), s.machine) })
	l.touch(k)
	var before func() error
	if pid := s.machine.Target.PID; !s.machine.IsCore() {
		before = func() error { return inferior.AwaitFrozen(pid) }
	}
	l.giveOwn(k, s, deferSymbols, before)
}

// giveOwn starts a gdb for one rank. The forker calls before first, unless it is nil.
func (l *loop) giveOwn(k *gdbProcess, s *rankEntry, deferSymbols bool, before func() error) {
	m := s.machine
	s.halted = true
	k.entries = slices.DeleteFunc(k.entries, func(o *rankEntry) bool { return o == s })
	own := l.newGDBProcess(1)
	own.root, own.entries, s.gdb = m.Target.Root, []*rankEntry{s}, own
	own.debugger.DefersSymbols = deferSymbols
	own.debugger.Bound = k.debugger.Bound
	own.debugger.Add(m)
	own.waiting = true
	l.guard(own, func() { m.TakeOver(l.now()) })
	l.touch(own)
	l.forker.start(order{argv: l.commandLine(own), env: l.environmentOf(own), dies: m.Target.Held,
		before: borrowIndexes(l.indexes, own.number, before), done: l.whenStarted(own)})
}

// borrowIndexes returns the function that the forker calls before it starts a gdb: it fills the directory with
// indexes and then calls before, unless that is nil.
func borrowIndexes(indexes *indexcache.Cache, number int32, before func() error) func() error {
	return func() error {
		indexes.Borrow(number)
		if before == nil {
			return nil
		}
		return before()
	}
}

// returnIndexes makes the forker move the indexes that a gdb has made into the cache, after the end of the gdb.
func (l *loop) returnIndexes(k *gdbProcess) {
	if l.indexes == nil {
		return
	}
	indexes, number := l.indexes, k.number
	l.forker.do(func() { indexes.Return(number) })
}

// whenStarted returns the callback for the forker.
func (l *loop) whenStarted(k *gdbProcess) func(*process, error) {
	return func(p *process, err error) {
		l.e.post(func(l *loop) { l.started(k, p, err) })
	}
}

// remove removes a gdb that has ended. Its machines stay, to answer that their ranks have ended, until the ranks
// are started again or the engine is closed.
func (l *loop) remove(k *gdbProcess) {
	delete(l.gdbs, k.number)
	for _, s := range k.entries {
		s.gdbEnded = true
		l.release(s, k.crashed)
		if l.closing || l.ranks[s.machine.Target.Rank] != s {
			l.discard(s)
		}
	}
}

// close ends its ranks.
func (k *gdbProcess) close(l *loop) {
	l.guard(k, func() {
		for _, m := range k.debugger.Machines {
			m.Close(l.now())
		}
	})
	l.touch(k)
}

// write sends commands to gdb, or keeps them for a gdb that is being started.
func (l *loop) write(k *gdbProcess, b []byte) {
	switch {
	case len(b) == 0:
		return
	case k.process == nil:
		if k.waiting {
			k.pendingInput = append(k.pendingInput, b...)
		}
		return
	}
	left, err := k.process.write(b)
	if err != nil {
		k.process.kill() // megabytes of commands wait: it has stopped reading
		return
	}
	if left && !k.inputFull && l.e.poll.add(k.process.stdin, k.number, streamInput) == nil {
		k.inputFull = true
	}
}

// readOutput processes a piece of gdb's output. It reports whether there may be more.
func (l *loop) readOutput(k *gdbProcess) bool {
	if k.process == nil {
		return false
	}
	b, over := k.process.read(k.process.stdout, l.buffer[:])
	if over {
		l.e.poll.remove(k.process.stdout)
	}
	if len(b) == 0 {
		return false
	}
	now := l.now()
	k.first = nil
	if !k.broken {
		l.guard(k, func() {
			k.parser.Feed(b, func(r mi.Record) {
				if r.Class == mi.Log {
					k.process.errors.ReceiveLog(r.Text)
				}
				k.debugger.Record(now, r)
			})
		})
	}
	l.touch(k)
	return true
}

// readErrors processes a piece of gdb's standard error. It reports whether there may be more.
func (l *loop) readErrors(k *gdbProcess) bool {
	if k.process == nil {
		return false
	}
	b, over := k.process.read(k.process.stderr, l.buffer[:])
	if over {
		l.e.poll.remove(k.process.stderr)
	}
	if len(b) == 0 {
		return false
	}
	k.process.errors.Receive(b)
	now := l.now()
	if !k.broken {
		l.guard(k, func() { k.debugger.Errors(now, b) })
	}
	l.touch(k)
	return true
}
