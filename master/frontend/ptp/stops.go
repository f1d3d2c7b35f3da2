// Events of ranks.

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

// stopped reports a stop, once the depth of the stack is known. The first stop of started ranks is
// not reported: the OK to START SESSION is.
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
	changed := j.changesOf(ctx, g.Ranks)
	for _, d := range j.depths(ctx, g.Ranks) {
		for _, cell := range thread.in(d.ranks) {
			id, addr, _ := strings.Cut(cell.value, " ")
			frames := frameArgs(stop.Frame, addr)
			tail := append([]string{id, strconv.Itoa(d.depth)}, changed.names(cell.ranks)...)
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

// depthOf is the depth of the stacks of some ranks.
type depthOf struct {
	ranks rank.Set
	depth int
}

// mostDepth bounds the reported depth, for endless recursions.
const mostDepth = 1000

// depths returns the depth of the stacks, 0 for ranks that cannot tell it: their stop is reported
// all the same.
func (j *job) depths(ctx context.Context, ranks rank.Set) []depthOf {
	var found []depthOf
	for _, g := range j.ask(ctx, "backtrace", ranks, protocol.Args{Count: mostDepth}) {
		var body framesBody
		if g.Kind == protocol.KindResult {
			_ = json.Unmarshal(g.Body, &body) // 0 if it cannot be read
		}
		found = append(found, depthOf{g.Ranks, len(body.Frames)})
	}
	return found
}

// gone reports that ranks have ended.
func (f *front) gone(ctx context.Context, g protocol.Group) {
	var x protocol.Exit
	var m protocol.Missing
	args := []string{ptp.ExitNormal, "0"} // detached
	switch g.Kind {
	case protocol.KindExited:
		_ = json.Unmarshal(g.Body, &x) // as below: reported even if it cannot be read
		args = []string{ptp.ExitNormal, strconv.Itoa(x.Code)}
	case protocol.KindSignalled:
		_ = json.Unmarshal(g.Body, &x)
		args = append([]string{ptp.ExitSignal}, signalArgs(protocol.SignalInfo{Signal: x.Signal, Meaning: x.Meaning})...)
	case protocol.KindLost:
		_ = json.Unmarshal(g.Body, &m)
		args = append([]string{ptp.ExitSignal}, signalArgs(protocol.SignalInfo{Signal: "LOST", Meaning: m.Cause})...)
	}
	f.begin(ctx, "end", g.Ranks, inTurn, func(_ context.Context, j *job) {
		if ranks := g.Ranks.Minus(f.endedByTerminate()); !ranks.IsEmpty() {
			j.say(ptp.EventExit, ranks, args...)
		}
	})
}

func (f *front) endedByTerminate() rank.Set {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.terminated
}
