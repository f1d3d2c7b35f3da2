// Events of ranks.

package ptp

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

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
	if stop.Reason == "attached" { // a GO or STEP of watched ranks has brought it about
		var some bool
		if g, some = g.Narrow(g.Ranks.Minus(f.held.moved)); !some {
			return
		}
	}
	f.mu.Lock()
	all := f.states.NoneRuns(f.held.moved)
	f.mu.Unlock()
	if f.held.add(rankStop{g, stop}, time.Now()); all {
		f.reportStops(ctx)
	}
}

const (
	// stopHold is how long a stop waits for stops of the other ranks of the last GO or STEP, to be
	// reported with them in one event. The gdbs of a node stop one after the other. The original holds
	// stops for 100 ms on each level of its tree.
	stopHold = 40 * time.Millisecond
	// holdGrowth is how many times as long as the burst of stops lasts already the next one waits: on a
	// machine under load a burst of seconds is reported in four events.
	holdGrowth = 3
	// maxHold bounds that.
	maxHold = 2 * time.Second
	// burstGap is the time without stops after which the next one begins a burst.
	burstGap = 500 * time.Millisecond
)

// stops are stops that are held to be reported together.
type stops struct {
	moved rank.Set // ranks of the last GO or STEP
	list  []rankStop
	due   <-chan time.Time // nil: none is held
	// The first and the last stop of a burst.
	first, last time.Time
}

// add holds a stop.
func (s *stops) add(stop rankStop, now time.Time) {
	if now.Sub(s.last) > burstGap {
		s.first = now
	}
	s.last = now
	s.list = append(s.list, stop)
	if s.due == nil {
		s.due = time.After(min(max(stopHold, holdGrowth*now.Sub(s.first)), maxHold))
	}
}

// move begins a GO or STEP of some ranks.
func (s *stops) move(ranks rank.Set) { s.moved, s.last = ranks, time.Time{} }

// rankStop is a stop of some ranks.
type rankStop struct {
	protocol.Group
	stop protocol.Stop
}

// reportStops reports the stops that are held. The loop calls it when they are due, and before
// commands and ends of ranks, which must not overtake stops.
func (f *front) reportStops(ctx context.Context) {
	list := f.held.list
	f.held.list, f.held.due = nil, nil
	if len(list) == 0 {
		return
	}
	var ranks rank.Set
	for _, s := range list {
		ranks = ranks.Union(s.Ranks)
	}
	f.begin(ctx, "stop", ranks, looking, func(ctx context.Context, j *action) {
		stacks := j.post(ctx, "backtrace", ranks, protocol.Args{Count: maxDepth})
		compared := j.compared(ctx, ranks)
		depths := depthsOf(stacks.answers(ctx))
		for _, s := range list {
			j.stand(s, depths)
		}
		changed := j.changesOf(ctx, compared)
		for _, s := range list {
			j.suspend(s.Group, s.stop, depths, changed)
		}
	})
}

// stand notes where ranks have stopped.
func (j *action) stand(s rankStop, depths []depthOf) {
	for _, d := range depths {
		for _, cell := range cellsOf(s.Group, "thread", "1").in(d.ranks.Intersect(j.ranks)) {
			x := spot{thread: cell.value, depth: d.depth}
			if s.stop.Frame != nil {
				x.fn = s.stop.Frame.Func
			}
			j.move(cell.ranks, func(was *spot) { *was = spot{was.ranks, x.thread, x.depth, 0, x.fn, nil} })
		}
	}
}

func (j *action) suspend(g protocol.Group, stop protocol.Stop, depths []depthOf, changed changes) {
	thread := cellsOf(g, "thread", "1")
	thread = thread.by(cellsOf(g, "addr", ""))
	for _, d := range depths {
		for _, cell := range thread.in(d.ranks.Intersect(g.Ranks)) {
			id, addr, _ := strings.Cut(cell.value, " ")
			for _, part := range changed.divide(cell.ranks) {
				tail := append([]string{id, strconv.Itoa(d.depth)}, counted(part.names)...)
				j.say(ptp.EventSuspend, part.ranks, append(j.reason(stop, addr), tail...)...)
			}
		}
	}
}

// reason formats why a rank has stopped, and where if Eclipse is told: it asks for the frame of a
// breakpoint.
func (j *action) reason(stop protocol.Stop, addr string) []string {
	frame := frameArgs(stop.Frame, addr)
	if bp, ours := j.idOf(stop.Breakpoint); ours && !stop.Temporary {
		return []string{ptp.SuspendBreak, strconv.Itoa(bp)}
	}
	switch stop.Reason {
	case "end-stepping-range", "function-finished":
		return append([]string{ptp.SuspendStep}, frame...)
	case "interrupted":
		stop.Signal, stop.Meaning = "SIGINT", "Interrupt"
	case "signal-received":
	default:
		return append([]string{ptp.SuspendInterrupt}, frame...)
	}
	handled := protocol.SignalInfo{Signal: stop.Signal, Stop: true, Print: true, Pass: true, Meaning: stop.Meaning}
	return append(append([]string{ptp.SuspendSignal}, signalArgs(handled)...), frame...)
}

// depthOf is the depth of the stacks of some ranks.
type depthOf struct {
	ranks rank.Set
	depth int
}

// maxDepth bounds the reported depth and the frames that are listed, for endless recursions.
const maxDepth = 1000

// depthsOf returns the depth of the stacks, 0 for ranks that cannot tell it: their stop is reported
// all the same.
func depthsOf(answers []protocol.Group) []depthOf {
	var found []depthOf
	for _, g := range answers {
		var body framesBody
		if g.Kind == protocol.KindResult {
			_ = json.Unmarshal(g.Body, &body) // 0 if it cannot be read
		}
		found = append(found, depthOf{g.Ranks, len(body.Frames)})
	}
	return found
}

// rankEnded reports that ranks have ended.
func (f *front) rankEnded(ctx context.Context, g protocol.Group) {
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
	f.reportStops(ctx)
	f.begin(ctx, "end", g.Ranks, looking, func(_ context.Context, j *action) {
		j.say(ptp.EventExit, g.Ranks, args...)
	})
}
