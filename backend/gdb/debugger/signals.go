// Commands handle and info signals.

package debugger

import (
	"strings"

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
		if !isSignal(strings.ReplaceAll(w, "-", "")) { // "1-15" is a range
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
	sg.values.Printer.InConsole(q, line, func(text string) { sg.Reply(q, signalTable{signalsIn(text)}) })
}

func (sg *signals) infoSignals(q *request.Request) {
	if s := q.Args.Signal; s != "" && !isSignal(s) {
		sg.Fail(q, notASignal(s))
		return
	}
	line := strings.TrimSpace("info signals " + q.Args.Signal)
	sg.values.Printer.InConsole(q, line, func(text string) {
		list := signalsIn(text)
		for i := range list {
			if own, ok := sg.handlesOwn(list[i].Signal); ok {
				list[i] = own
			}
		}
		sg.Reply(q, signalTable{list})
	})
}

// signalsIn parses gdb's table:
//
//	Signal        Stop\tPrint\tPass to program\tDescription
//	SIGUSR1       No\tNo\tYes\t\tUser defined signal 1
func signalsIn(text string) []protocol.SignalInfo {
	list := []protocol.SignalInfo{}
	for line := range strings.Lines(text) {
		cells := strings.FieldsFunc(strings.TrimSuffix(line, "\n"), func(r rune) bool { return r == '\t' })
		if len(cells) < 3 {
			continue
		}
		first := strings.Fields(cells[0])
		if len(first) != 2 || first[0] == "Signal" {
			continue
		}
		i := protocol.SignalInfo{Signal: first[0], Stop: first[1] == "Yes", Print: cells[1] == "Yes", Pass: cells[2] == "Yes"}
		if len(cells) > 3 {
			i.Meaning = cells[3]
		}
		list = append(list, i)
	}
	return list
}
