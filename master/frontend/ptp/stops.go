// What happens to ranks unasked.

package ptp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// stopped tells of a stop, once it is known how deep the stack is. The first stop of
// ranks that were just started is told by the OK to START SESSION.
func (f *front) stopped(ctx context.Context, g protocol.Group) {
	var stop protocol.Stop
	if err := json.Unmarshal(g.Body, &stop); err != nil {
		f.log.Warn("a stop that cannot be read", "ranks", g.Ranks.String(), "err", err)
		return
	}
	if stop.Reason == "entry" {
		return
	}
	f.begin(ctx, "stop", g.Ranks, inTurn, func(ctx context.Context, j *job) { j.suspend(ctx, g, stop) })
}

func (j *job) suspend(ctx context.Context, g protocol.Group, stop protocol.Stop) {
	thread := cellsOf(g, "thread", "1")
	signal := stop.Reason == "signal-received" || stop.Reason == "interrupted"
	if stop.Reason == "interrupted" {
		stop.Signal, stop.Meaning = "SIGINT", "Interrupt"
	}
	thread = thread.by(cellsOf(g, "addr", ""))
	for _, d := range j.depths(ctx, g.Ranks) {
		for _, cell := range thread.in(d.ranks) {
			id, addr, _ := strings.Cut(cell.value, " ")
			frames := frameArgs(stop.Frame, addr)
			tail := append([]string{id, strconv.Itoa(d.depth)}, j.changedNames(cell.ranks)...)
			say := func(reason string, args []string) {
				j.say(ptp.EventSuspend, cell.ranks, append(append([]string{reason}, args...), tail...)...)
			}
			bp, ours := j.idOf(stop.Breakpoint)
			switch {
			case ours && !stop.Temporary:
				say(ptp.SuspendBreak, []string{strconv.Itoa(bp)})
			case signal:
				say(ptp.SuspendSignal, append(signalArgs(protocol.SignalInfo{Signal: stop.Signal, Stop: true, Print: true, Pass: true, Meaning: stop.Meaning}), frames...))
			case stop.Reason == "end-stepping-range" || stop.Reason == "function-finished":
				say(ptp.SuspendStep, frames)
			default:
				say(ptp.SuspendInterrupt, frames)
			}
		}
	}
}

// depthOf is how deep the stacks of some ranks are.
type depthOf struct {
	ranks rank.Set
	depth int
}

// mostDepth bounds the depth that is told: of an endless recursion it would cost more
// than anybody can look at.
const mostDepth = 1000

// depths asks for the depth of the stacks. Ranks that cannot tell have 0: their stop is
// told all the same.
func (j *job) depths(ctx context.Context, ranks rank.Set) []depthOf {
	var found []depthOf
	for _, g := range j.ask(ctx, "backtrace", ranks, protocol.Args{Count: mostDepth}) {
		var body framesBody
		if g.Kind == protocol.KindResult {
			_ = json.Unmarshal(g.Body, &body) // as if it could not tell
		}
		found = append(found, depthOf{g.Ranks, len(body.Frames)})
	}
	return found
}

// gone tells that ranks have ended.
func (f *front) gone(ctx context.Context, g protocol.Group) {
	var x protocol.Exit
	var m protocol.Missing
	args := []string{ptp.ExitNormal, "0"} // detached from
	switch g.Kind {
	case protocol.KindExited:
		_ = json.Unmarshal(g.Body, &x) // as below: that it is gone is true
		args = []string{ptp.ExitNormal, strconv.Itoa(x.Code)}
	case protocol.KindSignalled:
		_ = json.Unmarshal(g.Body, &x)
		args = append([]string{ptp.ExitSignal}, signalArgs(protocol.SignalInfo{Signal: x.Signal, Meaning: x.Meaning})...)
	case protocol.KindLost:
		_ = json.Unmarshal(g.Body, &m)
		args = append([]string{ptp.ExitSignal}, signalArgs(protocol.SignalInfo{Signal: "LOST", Meaning: m.Cause})...)
	}
	f.begin(ctx, "end", g.Ranks, inTurn, func(_ context.Context, j *job) { j.say(ptp.EventExit, g.Ranks, args...) })
}
