// Signal handling for each rank of a shared gdb.

package debugger

import (
	"fmt"
	"slices"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// handling is the signal handling of a shared gdb. gdb has one table for all ranks; sdm
// keeps one for each rank. gdb stops at a signal if any rank wants that, or if ranks
// differ in whether the program gets it. A rank that does not want to stop is resumed,
// and for a rank that is not to get the signal it is removed.
type handling struct {
	base  []protocol.SignalInfo // of ranks without settings; nil: not known yet
	asked bool                  // base was requested
	told  map[string]protocol.SignalInfo
	then  []func() // callbacks that wait for base
}

// signals executes handle and info signals, and keeps what the user wants of each signal.
type signals struct {
	*core
	groupStop *groupStop
}

// handlesOwn returns the handling of a signal for this rank, if it is known here.
func (c *core) handlesOwn(signal string) (protocol.SignalInfo, bool) {
	if h, ok := c.handled[signal]; ok {
		return h, true
	}
	for _, h := range c.GDB.handling.base {
		if h.Signal == signal {
			return h, true
		}
	}
	return protocol.SignalInfo{}, false
}

// withBase calls then when gdb's own table is known.
func (sg *signals) withBase(q *request.Request, then func()) {
	h := &sg.GDB.handling
	if h.base != nil {
		then()
		return
	}
	h.then = append(h.then, then)
	if h.asked {
		return
	}
	h.asked = true
	sg.inConsoleOr(q, "info signals", func(a request.Answer) {
		h.asked = false
		h.base = gdbtext.SignalsIn(a.Text)
		for i := range h.base { // temporary, see ignoreSIGCONT
			if sg.GDB.quietSIGCONT > 0 && h.base[i].Signal == "SIGCONT" {
				h.base[i].Stop, h.base[i].Print, h.base[i].Pass = true, true, true
			}
		}
		h.told = map[string]protocol.SignalInfo{}
		for _, s := range h.base {
			h.told[s.Signal] = s
		}
		waiting := h.then
		h.then = nil
		for _, then := range waiting {
			then()
		}
		sg.GDB.others = true
	})
}

// handleOwn executes handle in a shared gdb.
func (sg *signals) handleOwn(q *request.Request, names []string) {
	sg.withBase(q, func() {
		signals, unknown := sg.GDB.handling.named(names)
		if unknown != "" {
			sg.Fail(q, noFlag(unknown))
			return
		}
		table := signalTable{Signals: []protocol.SignalInfo{}}
		for _, name := range signals {
			h, _ := sg.handlesOwn(name)
			for _, action := range q.Args.Actions {
				if !gdbtext.ApplyHandling(&h, action) {
					sg.Fail(q, noFlag(action))
					return
				}
			}
			table.Signals = append(table.Signals, h)
		}
		for _, h := range table.Signals {
			if sg.handled == nil {
				sg.handled = map[string]protocol.SignalInfo{}
			}
			sg.handled[h.Signal] = h
			sg.tellHandling(h.Signal)
		}
		sg.Reply(q, table)
	})
}

// noFlag is gdb's error for an unknown word of handle.
func noFlag(word string) *protocol.Fault {
	return &protocol.Fault{Kind: protocol.FaultGDB, Message: fmt.Sprintf("Unrecognized or ambiguous flag word: \"%s\".", word)}
}

// named returns the signals that words name, in gdb's order: "SIGUSR1", "14", "1-15",
// or "all", which leaves out the signals that debuggers use.
func (h *handling) named(words []string) (signals []string, unknown string) {
	for _, w := range words {
		if !slices.ContainsFunc(h.base, func(s protocol.SignalInfo) bool { return gdbtext.MeansSignal(w, s.Signal) }) {
			return nil, w
		}
	}
	for _, s := range h.base {
		if slices.ContainsFunc(words, func(w string) bool { return gdbtext.MeansSignal(w, s.Signal) }) {
			signals = append(signals, s.Signal)
		}
	}
	return signals, ""
}

// tellHandling updates gdb's table for a signal.
func (sg *signals) tellHandling(signal string) {
	var all protocol.SignalInfo
	first, differ := true, false
	for _, o := range sg.GDB.ranks {
		if o.finished() {
			continue
		}
		h, _ := o.handlesOwn(signal)
		differ = differ || !first && h.Pass != all.Pass
		all.Stop, all.Print, all.Pass = all.Stop || h.Stop, all.Print || h.Print, all.Pass || h.Pass
		first = false
	}
	if all.Stop = all.Stop || differ; all.Stop {
		all.Print = true
	}
	told := sg.GDB.handling.told[signal]
	if told.Stop == all.Stop && told.Print == all.Print && told.Pass == all.Pass {
		return
	}
	told.Stop, told.Print, told.Pass = all.Stop, all.Print, all.Pass
	sg.GDB.handling.told[signal] = told
	line := gdbtext.HandleLine(told)
	if sg.GDB.quietSIGCONT > 0 && signal == "SIGCONT" {
		sg.GDB.handle = line
		return
	}
	sg.Tell("handle", console, line)
}

// ownSignal reports whether a thread is to be resumed, because it has stopped at a
// signal at which this rank does not stop. If the program is not to get the signal, it
// is removed.
func (sg *signals) ownSignal(t *values.Thread) (goesOn bool) {
	name := t.Stop.Str("signal-name")
	if sg.GDB.handling.base == nil || t.Stop.Str("reason") != "signal-received" {
		return false
	}
	h, ok := sg.handlesOwn(name)
	if !ok {
		return false
	}
	if !h.Pass && sg.GDB.handling.told[name].Pass {
		sg.Tell("handle", "-interpreter-exec", "--thread", sg.GDBThread(t.ID), "console", "queue-signal 0")
	}
	return !h.Stop
}
