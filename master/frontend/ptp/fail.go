// Reports of failures to the front end.

package ptp

import (
	"encoding/json"
	"strconv"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

func bodyOf(v any) []byte { return canonical.JSON(v) }

// fail reports the error of ranks without a result. failure is the command's code for faults of
// gdb.
func (j *action) fail(g protocol.Group, failure ptp.ErrorCode) {
	if g.Kind != protocol.KindFault {
		var m protocol.Missing
		_ = json.Unmarshal(g.Body, &m) // without a cause if it cannot be read
		j.error(g.Ranks, ptp.Unknown, j.what+": no answer: "+m.Cause)
		return
	}
	var fault protocol.Fault
	if err := json.Unmarshal(g.Body, &fault); err != nil {
		fault.Message = string(g.Body)
	}
	switch fault.Kind {
	case protocol.FaultState:
		running := j.in(g.Ranks, session.Running)
		j.error(running, ptp.IsRunning, fault.Error())
		j.error(g.Ranks.Minus(running), ptp.NotRunning, fault.Error())
	case protocol.FaultLaunch:
		j.error(g.Ranks, ptp.NoDirectory, fault.Error())
	default: // gdb says of a running rank only that it cannot read its memory or registers
		running := j.in(g.Ranks, session.Running)
		j.error(running, ptp.IsRunning, fault.Error())
		j.error(g.Ranks.Minus(running), failure, fault.Error())
	}
}

// error reports an error of ranks. For the value of an expression it is a value, the text of the
// error: Eclipse drops the values of all ranks of the command if one of them has an ERROR.
func (j *action) error(ranks rank.Set, code ptp.ErrorCode, text string) {
	switch {
	case ranks.IsEmpty():
	case j.value != nil:
		v := ptp.TextValue(text[:min(len(text), maxErrorText)])
		j.say(ptp.EventData, ranks, v.Format, v.Argument(), "", j.value.name)
	default:
		j.say(ptp.EventError, ranks, strconv.Itoa(int(code)), ptp.Latin1(text))
	}
}

// maxErrorText bounds the text of an error that is sent as a value, in bytes; AIF permits 65535.
const maxErrorText = 1000

// reject answers an invalid command with an ERROR, before anything was done. A command without a set
// gets no answer: Eclipse takes an ERROR to no ranks for the failure of the command that it waits
// for.
func (f *front) reject(c command, code ptp.ErrorCode, text string) {
	if !c.hasSet() {
		f.log.Warn("an invalid command", "err", text)
		return
	}
	f.out.sendTo(c.Args[0], ptp.EventError, strconv.Itoa(int(code)), ptp.Latin1(text))
}
