// One gdb, as each of its ranks sees it.

package debugger

import (
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/rank"
	"time"
)

// GDB is what the ranks of one gdb share: the outstanding commands, what is to be sent, and what gdb has once for all
// of its inferiors.
type GDB struct {
	ranks           []*core
	several         bool // it has had more than one
	Calls           calls
	Bytes           []byte        // commands to be sent; Take returns those that may be sent now
	Send            func()        // sends what Take returns in the middle of a record; nil: at its end
	attachOrder     []attachWait  // attaches that must have ended before more of Bytes is sent; in order
	Kill            bool          // the process is to be killed
	Replaced        string        // the reason, if another gdb takes over the ranks
	dying           bool          // it has announced its end
	killer          string        // see Killer
	detaching       int           // ranks that are detached from by the end of gdb
	late            bool          // an answer is overdue: new commands are refused at once
	Gone            bool          // the process has ended
	killAt          time.Duration // when it is killed unless it has ended; 0: never
	Eager           bool          // it reads separate debug files by itself
	elements        bool          // a user has set how many elements it shows
	objects         bool          // it shows objects by their dynamic type (set print object)
	Old             bool          // it is older than 13 and does not know mi4
	DebugOutput     bool          // it prints debug messages; see beginAttach in gdb10.go
	isGDB10         bool          // it is version 10
	DefersSymbols   bool          // it reads symbols of libraries only when a command needs them
	Customized      bool          // it has arguments of the user, which may read files of Python
	libraries       []string      // those whose symbols a rank has needed, if DefersSymbols
	handling        handling
	quietSIGCONT    int             // number of ranks for which gdb ignores SIGCONT; see ignoreSIGCONT
	handle          string          // the user's handling of SIGCONT
	Asked           rank.Set        // ranks of the present request
	registers       map[string]bool // names of registers, if it is shared; nil: not known yet
	Startup         startup
	Abort           abortPoint
	Bound           bound
	conditionErrors breakpoint.ConditionErrors
	messages        gdbMessages
	setting         lastSetting
	start           []*startPoint // breakpoints of ranks that have not reached them yet
	others          bool          // a callback of another rank has run: all ranks are to be settled
}

// Shared reports whether it has ever had several ranks: the means that separate them stay in
// use afterwards.
func (d *GDB) Shared() bool { return d.several }

// Leave tells gdb to exit after the last of its ranks has ended.
func (d *GDB) Leave(now time.Duration) {
	if d.Gone || d.killAt != 0 {
		return
	}
	for _, m := range d.ranks {
		if !m.finished() {
			return
		}
	}
	d.Bytes = mi.AppendCommand(d.Bytes, d.Calls.add(&call{task: "exit", sent: now}), "-gdb-exit")
	d.killAt = now + endWait
}

// freeze sends SIGSTOP to ranks that another gdb is to take over. Those that gdb keeps stopped get it
// with its end, before their next instruction.
func (d *GDB) freeze() {
	for _, m := range d.ranks {
		if m.mayBeTakenOver() {
			m.send(ToTarget, sigStop)
		}
	}
}

// deathOf returns the description; it must be called before the calls are dropped.
func (d *GDB) deathOf(how End) (w death) {
	w.cause = how.Cause
	if k := d.Calls.current(); k != nil && k.of != nil && !k.of.IsInternal && d.Replaced == "" {
		if info, ok := protocol.LookupCommand(k.of.Name); ok && info.Place == protocol.AtTarget {
			w.command, w.crashed = k.of.What(), how.Crashed && !how.Killed
		}
	}
	return w
}

// replace kills a gdb that does not work any more; another gdb takes over its ranks. The
// ranks get SIGSTOP first, so that stopped ranks do not run on between the two.
func (d *GDB) replace(why string) {
	d.Kill, d.Replaced = true, why
	d.freeze()
}
