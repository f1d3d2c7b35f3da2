// Commands handle and info signals.

package debugger

import (
	"strings"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

// signalTable is the body of handle and info signals.
type signalTable struct {
	Signals []protocol.SignalInfo `json:"signals"`
}

// maxSignals bounds what one handle may name.
const maxSignals = 200

func (sg *signals) handleSignal(q *request.Request) {
	names := strings.Fields(q.Args.Signal)
	words := append(names[:len(names):len(names)], q.Args.Actions...)
	if len(names) == 0 || len(words) > maxSignals {
		sg.Fail(q, &protocol.Fault{Kind: protocol.FaultUsage, Message: "which signals?", Hint: "handle SIGUSR1 nostop noprint pass"})
		return
	}
	for _, w := range words {
		if !gdbtext.IsSignal(strings.ReplaceAll(w, "-", "")) { // "1-15" is a range
			sg.Fail(q, notASignal(w))
			return
		}
	}
	if sg.GDB.Shared() {
		sg.handleOwn(q, names)
		return
	}
	line := "handle " + strings.Join(words, " ")
	sg.groupStop.keepHandling(line)
	sg.values.Printer.InConsole(q, line, func(text string) { sg.Reply(q, signalTable{gdbtext.SignalsIn(text)}) })
}

func (sg *signals) infoSignals(q *request.Request) {
	if s := q.Args.Signal; s != "" && !gdbtext.IsSignal(s) {
		sg.Fail(q, notASignal(s))
		return
	}
	line := strings.TrimSpace("info signals " + q.Args.Signal)
	sg.values.Printer.InConsole(q, line, func(text string) {
		list := gdbtext.SignalsIn(text)
		for i := range list {
			if own, ok := sg.handlesOwn(list[i].Signal); ok {
				list[i] = own
			}
		}
		sg.Reply(q, signalTable{list})
	})
}
