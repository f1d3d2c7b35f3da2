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
func (j *job) fail(g protocol.Group, failure ptp.ErrorCode) {
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
	default:
		j.error(g.Ranks, failure, fault.Error())
	}
}

func (j *job) error(ranks rank.Set, code ptp.ErrorCode, text string) {
	if !ranks.IsEmpty() {
		j.say(ptp.EventError, ranks, strconv.Itoa(int(code)), ptp.Latin1(text))
	}
}

// reject reports an invalid command, before anything was done.
func (f *front) reject(set string, code ptp.ErrorCode, text string) {
	f.out.sendTo(set, ptp.EventError, strconv.Itoa(int(code)), ptp.Latin1(text))
}
