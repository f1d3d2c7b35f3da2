// Reports of failures to the front end.

package ptp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

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

// run executes the action. A panic becomes an error of its ranks.
func (j *action) run(ctx context.Context, run func(context.Context, *action)) {
	if bad, stack := protocol.Guard(j.what, func() { run(ctx, j) }); bad != nil {
		j.defect(bad, stack)
		j.error(j.ranks, ptp.Unknown, bad.Error())
	}
}

// results makes a call, reports failures, and returns the results.
func (j *action) results(ctx context.Context, name string, ranks rank.Set, args protocol.Args,
	failure ptp.ErrorCode) []protocol.Group {
	var results []protocol.Group
	for _, g := range j.ask(ctx, name, ranks, args) {
		if g.Kind == protocol.KindResult {
			results = append(results, g)
		} else {
			j.fail(g, failure)
		}
	}
	return results
}

// decodeBody reads the result of a group; it reports an error if that is not possible.
func (j *action) decodeBody(g protocol.Group, body any) bool {
	if err := json.Unmarshal(g.Body, body); err != nil {
		j.error(g.Ranks, ptp.Unknown, fmt.Sprintf("%s: an answer that cannot be read: %v", j.what, err))
		return false
	}
	return true
}
