// Commands that query stacks, threads, signals and types.

package ptp

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/ptp"
)

// framesBody is the result of backtrace, and in part the result of thread.
type framesBody struct {
	Frames []protocol.Frame `json:"frames"`
	Thread int              `json:"thread"`
	Frame  *protocol.Frame  `json:"frame"`
}

// frameArgs formats a frame: level, file, function, address, line. Eclipse takes an empty address
// for none. There are always five arguments: after a "*" for an absent frame Eclipse would misread
// the following ones.
func frameArgs(f *protocol.Frame, addr string) []string {
	if f == nil {
		f = &protocol.Frame{}
	}
	file := f.File
	if file == "" {
		file = f.From
	}
	return []string{strconv.Itoa(f.Level), ptp.Latin1(file), ptp.Latin1(f.Func), addr, strconv.Itoa(f.Line)}
}

// bounds reads low and high of a range of levels; 0 and 0 are all of them.
func (j *action) bounds(args arguments) (low, high int, ok bool) {
	low, ok = j.number(args, 0)
	if !ok {
		return 0, 0, false
	}
	high, ok = j.number(args, 1)
	if ok && (low < 0 || high < low) {
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("%s from level %d to %d", j.what, low, high))
		return 0, 0, false
	}
	return low, high, ok
}

func listFrames(ctx context.Context, j *action, args arguments) {
	low, high, ok := j.bounds(args)
	if !ok {
		return
	}
	asked := protocol.Args{Count: maxDepth}
	if high > 0 {
		asked.Count = min(high+1, maxDepth)
	}
	for _, g := range j.results(ctx, "backtrace", j.ranks, asked, ptp.Unknown) {
		var body framesBody
		if !j.decodeBody(g, &body) {
			continue
		}
		frames := body.Frames[min(low, len(body.Frames)):]
		parts := cells{{g.Ranks, ""}} // by the addresses of the frames, each after a space
		for _, f := range frames {
			parts = parts.by(cellsOf(g, strconv.Itoa(f.Level)+".addr", ""))
		}
		for _, p := range parts {
			said := []string{strconv.Itoa(len(frames))}
			addrs := strings.Split(p.value, " ")[1:]
			for i, f := range frames {
				said = append(said, frameArgs(&f, addrs[i])...)
			}
			j.say(ptp.EventFrames, p.ranks, said...)
		}
	}
}

func stackDepth(ctx context.Context, j *action, _ arguments) {
	for _, g := range j.results(ctx, "backtrace", j.ranks, protocol.Args{Count: maxDepth}, ptp.Unknown) {
		var body framesBody
		if j.decodeBody(g, &body) {
			j.move(g.Ranks, func(x *spot) { x.depth = len(body.Frames) })
			j.say(ptp.EventDepth, g.Ranks, strconv.Itoa(len(body.Frames)))
		}
	}
}

// namesBody is the result of info locals and info args.
type namesBody struct {
	Names []string `json:"names"`
}

func listLocals(ctx context.Context, j *action, _ arguments) {
	for _, g := range j.results(ctx, "info locals", j.ranks, protocol.Args{}, ptp.Unknown) {
		var body namesBody
		if j.decodeBody(g, &body) {
			j.move(g.Ranks, func(x *spot) { x.add(body.Names) })
			j.say(ptp.EventVars, g.Ranks, counted(body.Names)...)
		}
	}
}

// listArguments returns the arguments of the lowest level of the range: Eclipse asks for one level.
func listArguments(ctx context.Context, j *action, args arguments) {
	low, _, ok := j.bounds(args)
	if !ok {
		return
	}
	for _, g := range j.results(ctx, "info args", j.ranks, protocol.Args{Frame: &low}, ptp.Unknown) {
		var body namesBody
		if j.decodeBody(g, &body) {
			j.move(g.Ranks, func(x *spot) {
				if x.level == low {
					x.add(body.Names)
				}
			})
			j.say(ptp.EventArgs, g.Ranks, counted(body.Names)...)
		}
	}
}

// counted formats texts after their number.
func counted(texts []string) []string {
	out := []string{strconv.Itoa(len(texts))}
	for _, t := range texts {
		out = append(out, ptp.Latin1(t))
	}
	return out
}

func listThreads(ctx context.Context, j *action, _ arguments) {
	for _, g := range j.results(ctx, "info threads", j.ranks, protocol.Args{}, ptp.Unknown) {
		var body struct {
			Threads []struct {
				ID      int  `json:"id"`
				Current bool `json:"current"`
			} `json:"threads"`
		}
		if !j.decodeBody(g, &body) {
			continue
		}
		current := "0"
		var others []string
		for _, t := range body.Threads {
			if t.Current {
				current = strconv.Itoa(t.ID)
			} else {
				others = append(others, strconv.Itoa(t.ID))
			}
		}
		j.say(ptp.EventThreads, g.Ranks, append([]string{current}, counted(others)...)...)
	}
}

func selectThread(ctx context.Context, j *action, args arguments) {
	id, ok := j.number(args, 0)
	if !ok {
		return
	}
	for _, g := range j.results(ctx, "thread", j.ranks, protocol.Args{Thread: id}, ptp.Unknown) {
		var body framesBody
		if !j.decodeBody(g, &body) {
			continue
		}
		thread := strconv.Itoa(body.Thread)
		j.move(g.Ranks, func(x *spot) {
			if x.thread != thread {
				x.depth = 0
			}
			x.thread, x.level, x.fn, x.locals = thread, 0, "", nil
			if body.Frame != nil {
				x.level = body.Frame.Level
			}
			if body.Frame != nil && x.level == 0 {
				x.fn = body.Frame.Func
			}
		})
		for _, c := range cellsOf(g, "addr", "") {
			j.say(ptp.EventThreadSelect, c.ranks, append([]string{strconv.Itoa(body.Thread)},
				frameArgs(body.Frame, c.value)...)...)
		}
	}
}

// signalArgs formats the handling of a signal: name, stop, print, pass, description.
func signalArgs(s protocol.SignalInfo) []string {
	flag := func(set bool) string {
		if set {
			return "1"
		}
		return "0"
	}
	return []string{s.Signal, flag(s.Stop), flag(s.Print), flag(s.Pass), ptp.Latin1(s.Meaning)}
}

func listSignals(ctx context.Context, j *action, args arguments) {
	for _, g := range j.results(ctx, "info signals", j.ranks, protocol.Args{Signal: args[0]}, ptp.Unknown) {
		var body struct {
			Signals []protocol.SignalInfo `json:"signals"`
		}
		if !j.decodeBody(g, &body) {
			continue
		}
		said := []string{strconv.Itoa(len(body.Signals))}
		for _, s := range body.Signals {
			said = append(said, signalArgs(s)...)
		}
		j.say(ptp.EventSignals, g.Ranks, said...)
	}
}

// textBody is the result of ptype, whatis and gdb.
type textBody struct {
	Text string `json:"text"`
}

func getType(ctx context.Context, j *action, args arguments) {
	running := j.in(j.ranks, session.Running)
	j.error(running, ptp.IsRunning, j.what+": is running")
	for _, g := range j.ask(ctx, "whatis", j.ranks.Minus(running), protocol.Args{Expr: args[0]}) {
		var body textBody
		switch {
		case g.Kind == protocol.KindResult:
			if j.decodeBody(g, &body) {
				j.say(ptp.EventType, g.Ranks, ptp.Latin1(typeText(body.Text)))
			}
		case notFortran.Match(g.Body):
			j.typeInFortran(ctx, args[0], g)
		default:
			j.fail(g, ptp.UnknownVariable)
		}
	}
}
