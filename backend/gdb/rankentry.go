// The loop's entry for each rank, and its requests.

package gdb

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/inferior"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
	"sdm/protocol/tracing"
)

// rankEntry is one rank: its process and its machine.
type rankEntry struct {
	number   int32
	machine  *debugger.Machine
	target   *inferior.Process
	gdb      *gdbProcess
	gdbEnded bool   // its gdb has ended
	program  string // what it executed when it stopped; "": not known
	// The following are about a process that was attached to.
	stopped  bool // it was stopped by a signal before
	halted   bool // sdm has stopped it, for another gdb
	released bool // see release
}

// discard removes an entry whose gdb has ended.
func (l *loop) discard(s *rankEntry) {
	s.target.Close()
	delete(l.entries, s.number)
}

// attach starts gdbs for targets.
func (l *loop) attach(id protocol.RequestID, targets []backend.Target, stopAt string, wait time.Duration) {
	var fresh []backend.Target
	for _, t := range targets {
		t.Root, t.Wraps, t.AllStop = inferior.Root(t.PID), t.Held && wraps(t.PID), l.e.cfg.Reverse
		if l.closing {
			l.refuse(id, t.Rank, &protocol.Fault{Kind: protocol.FaultState, Op: "attach", Message: "the session is ending"})
			continue
		}
		if old := l.ranks[t.Rank]; old != nil {
			if !old.machine.State.IsOver() {
				f := *old.machine.State.Refuse(protocol.NeedNew)
				f.Op = "attach"
				l.refuse(id, t.Rank, &f)
				continue
			}
			t.AllStop = t.AllStop || old.machine.Target.AllStop &&
				slices.ContainsFunc(t.Before, func(c protocol.Command) bool { return breakpoint.Catches(c, "vfork") })
			delete(l.ranks, t.Rank)
			if old.gdbEnded { // otherwise its gdb is still ending
				l.discard(old)
			}
		}
		fresh = append(fresh, t)
	}
	for _, group := range l.e.cfg.share(fresh) {
		l.attachShared(id, group, stopAt, wait)
	}
	l.endAhead()
}

// hostOf returns the functions by which the machine of a target asks about its process and files.
func (l *loop) hostOf(t backend.Target) debugger.Host {
	h := debugger.Host{
		Sources:   values.Sources{Read: l.sources.Of(t.Root)},
		Libraries: l.maps.Libraries,
		PendsStop: func(pid int, thread string) bool { return inferior.Pending(pid, thread, syscall.SIGSTOP) },
	}
	if t.Core != "" || l.e.cfg.StandIns {
		return h
	}
	newer := l.sources.NewerOf(t.Root)
	h.IsNewer = func(source string, addr uint64) bool {
		object := l.maps.ObjectAt(t.PID, addr)
		return object != "" && newer(source, object)
	}
	h.WhyRefused, h.LeaderEnded = tracing.WhyNot, tracing.LeaderEnded
	h.NoSymbols = func() string { return inferior.WithoutDebugInfo(t.PID, l.e.cfg.EagerSymbols) }
	h.MPI = func(pid int) bool {
		return l.maps.Matches(pid, backend.MPILibrary) || l.programs.HasFunction(pid, "MPI_Abort")
	}
	return h
}

// attachShared starts one gdb for some targets.
func (l *loop) attachShared(id protocol.RequestID, targets []backend.Target, stopAt string, wait time.Duration) {
	k := l.newGDBProcess(len(targets))
	k.root = targets[0].Root
	k.debugger.Bound = debugger.LimitOf(l.now(), cmp.Or(targets[0].Within, l.e.cfg.StartWait))
	k.debugger.DefersSymbols = !targets[0].Held && targets[0].Core == "" && l.e.cfg.defersSymbols()
	k.debugger.Customized = len(l.e.cfg.Args) > 0
	for _, t := range targets {
		l.last++
		s := &rankEntry{number: l.last, machine: debugger.NewMachine(t, l.hostOf(t)), target: inferior.Open(t.PID), gdb: k}
		s.machine.Record.Wanted = l.e.cfg.Reverse && t.Core == ""
		s.stopped = s.target.Frozen()
		l.register(s)
		k.entries = append(k.entries, s)
		k.debugger.Add(s.machine)
		l.entries[s.number], l.ranks[t.Rank] = s, s
		if s.target.FD >= 0 {
			_ = l.e.poll.add(s.target.FD, s.number, streamTarget) // otherwise gdb reports the end
		}
	}
	for _, s := range k.entries {
		l.guard(k, func() { s.machine.Start(l.now(), id, stopAt, wait, s.stopped) })
	}
	l.startGDB(k, targets[0].Held || targets[0].Core != "")
	l.touch(k)
}

// follow replaces the process of a rank.
func (l *loop) follow(s *rankEntry, pid int) {
	if s.isAttached() {
		l.custody.Forget(s.target.PID())
		l.custody.Process(pid, false)
	}
	s.target.Close() // the poller drops it with its descriptor
	s.target, s.stopped = inferior.Open(pid), false
	if s.target.FD >= 0 {
		_ = l.e.poll.add(s.target.FD, s.number, streamTarget)
	}
}

// do passes a request to the machines of its ranks.
func (l *loop) do(r backend.Request) {
	now := l.now()
	c := request.CommandOf(r.Command)
	var over map[string]rank.Set // ranks that have ended, by program
	var line string              // what the gdb of such a program is told
	for id := range r.Ranks.All() {
		s := l.ranks[id]
		if s == nil {
			f := *backend.NotStarted()
			f.Op = r.Command.Name
			l.refuse(r.ID, id, &f)
			continue
		}
		if s.program != "" {
			if text := values.LineAfterEnd(c, s.machine.State); text != "" {
				if over == nil {
					over = map[string]rank.Set{}
				}
				over[s.program], line = over[s.program].Union(rank.Of(id)), text
				continue
			}
		}
		if len(l.touched) > 0 && l.touched[0] != s.gdb {
			l.applyOutputs() // the first gdbs work while the others are still being asked
		}
		l.guard(s.gdb, func() {
			s.gdb.debugger.Asked = r.Ranks
			s.machine.Do(now, r.ID, r.Wait, c)
		})
		l.touch(s.gdb)
	}
	for program, ranks := range over {
		l.askFile(r, c, program, line, ranks)
	}
}

func (l *loop) refuse(id protocol.RequestID, r rank.ID, f *protocol.Fault) {
	l.messages = append(l.messages, debugger.Message{Request: id,
		Group: protocol.Group{Kind: protocol.KindFault, Ranks: rank.Of(r), Body: canonical.JSON(f)}})
}

func (l *loop) ended(r rank.ID, exit protocol.Exit) {
	if s := l.ranks[r]; s != nil {
		s.target.Reaped = s.target.Reaped || !s.machine.Child
		l.guard(s.gdb, func() { s.machine.Ended(l.now(), exit) })
		l.touch(s.gdb)
	}
}

// close ends all ranks; with forced it kills all gdbs.
func (l *loop) close(ctx context.Context, forced bool) {
	l.ctx, l.closing, l.forced = ctx, true, forced
	for _, k := range l.gdbs {
		k.close(l)
		if forced && k.process != nil {
			k.process.kill()
		}
		if k.process == nil && !k.waiting {
			l.remove(k)
		}
	}
	for _, s := range l.entries {
		if s.gdbEnded {
			l.discard(s)
		}
	}
}

// wraps reports whether a process runs a wrapper.
func wraps(pid int) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && protocol.IsWrapper(exe)
}
