// Commands of the front end.

package ptp

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// command is a packet of the front end.
type command struct {
	ptp.Packet
	bad error // error of decoding it
}

// handlers execute the commands for a set of tasks. Each collects all answers that it needs before
// it reports.
var handlers = map[ptp.Code]func(context.Context, *action, arguments){
	ptp.LineBreak:       setBreak,
	ptp.FuncBreak:       setBreak,
	ptp.Watch:           setWatch,
	ptp.DeleteBreak:     changeBreak("delete"),
	ptp.EnableBreak:     changeBreak("enable"),
	ptp.DisableBreak:    changeBreak("disable"),
	ptp.ConditionBreak:  changeBreak("condition"),
	ptp.BreakAfter:      changeBreak("ignore"),
	ptp.Go:              resume,
	ptp.Step:            step,
	ptp.Terminate:       terminate,
	ptp.Suspend:         interrupt,
	ptp.ListFrames:      listFrames,
	ptp.SetFrame:        setFrame,
	ptp.Evaluate:        evaluate,
	ptp.GetType:         getType,
	ptp.ListLocals:      listLocals,
	ptp.ListArguments:   listArguments,
	ptp.ListGlobals:     notImplemented,
	ptp.ListThreads:     listThreads,
	ptp.SelectThread:    selectThread,
	ptp.StackDepth:      stackDepth,
	ptp.ReadMemory:      readMemory,
	ptp.WriteMemory:     writeMemory,
	ptp.ListSignals:     listSignals,
	ptp.SignalInfo:      notImplemented,
	ptp.HandleSignal:    handleSignal,
	ptp.DataEvaluate:    notImplemented,
	ptp.EvaluatePartial: evaluatePartial,
	ptp.DeletePartial:   deletePartial,
}

// orderOf returns what a command waits for.
func orderOf(c ptp.Code) order {
	switch c {
	case ptp.Go, ptp.Step:
		return moving
	case ptp.Suspend, ptp.Terminate:
		return urgent
	case ptp.ListFrames, ptp.SetFrame, ptp.Evaluate, ptp.EvaluatePartial, ptp.GetType, ptp.ListLocals, ptp.ListArguments,
		ptp.ListThreads, ptp.SelectThread, ptp.StackDepth, ptp.ReadMemory, ptp.ListSignals:
		return looking
	}
	return inTurn
}

// command processes a command; quit tells that it is the last one.
func (f *front) command(ctx context.Context, c command) (quit bool) {
	f.log.Debug("command", "packet", c.Packet, "err", c.bad)
	info, known := ptp.LookupCommand(c.ID)
	switch {
	case c.bad != nil:
		f.log.Warn("a packet that cannot be read", "err", c.bad)
	case c.ID == ptp.Quit && known:
		return true
	case c.ID == ptp.Start:
		f.start(ctx, c)
	case c.isFlowControl():
		f.flowControl(c.ID)
	case !known:
		f.reject(c, ptp.BadCommand, fmt.Sprintf("there is no command %d", c.ID))
	default:
		f.commandTo(ctx, info, c)
	}
	return false
}

// Commands of Eclipse's runtime client about the flow of events, by their numbers there. Eclipse
// sends holdEvents when 100 events wait for its user interface, and resumeEvents when none does. It
// expects no answer. The two that follow them are about the streams of the program.
const (
	holdEvents   = ptp.BreakAfter
	resumeEvents = ptp.Watch
)

// flowControl holds output, or sends it again. Answers and stops are not held: they are few, and
// Eclipse waits for them.
func (f *front) flowControl(id ptp.Code) {
	switch id {
	case holdEvents:
		f.out.hold()
	case resumeEvents:
		f.out.resume()
	}
}

// isFlowControl recognizes commands about the flow of events. They have the numbers of other
// commands here, and no set.
func (c command) isFlowControl() bool {
	return c.ID >= ptp.BreakAfter && c.ID <= ptp.Step && !c.hasSet()
}

func (c command) hasSet() bool {
	if len(c.Args) == 0 {
		return false
	}
	_, _, err := ptp.ParseSet(c.Args[0])
	return err == nil
}

// commandTo begins a command for a set of tasks.
func (f *front) commandTo(ctx context.Context, info ptp.CommandInfo, c command) {
	if !c.hasSet() {
		f.reject(c, ptp.BadCommand, info.Name+" without a set of tasks")
		return
	}
	ranks, _, _ := ptp.ParseSet(c.Args[0]) // hasSet has parsed it
	args := make(arguments, 0, len(c.Args)-1)
	for _, a := range c.Args[1:] {
		args = append(args, ptp.Text(a))
	}
	switch {
	case len(args) < len(info.Args):
		f.reject(c, ptp.BadCommand, fmt.Sprintf("%s needs %d arguments after the set of tasks (%s), and has %d", info.Name, len(info.Args), strings.Join(info.Args, ", "), len(args)))
	case !f.hasBegun():
		f.reject(c, ptp.NoSession, info.Name+" before START SESSION")
	case ranks.IsEmpty():
		f.out.sendTo(c.Args[0], ptp.EventOK) // an empty set: nothing to do
	default:
		var d *debt
		if c.ID != ptp.Suspend { // a stop is the answer
			d = f.owe(ranks)
		}
		f.reportStops(ctx) // of these ranks after the answer
		if orderOf(c.ID) == moving {
			f.held.move(ranks)
		}
		f.beginOwing(ctx, info.Name, ranks, orderOf(c.ID), d, func(ctx context.Context, j *action) {
			j.handle(ctx, c.ID, args)
		})
	}
}

// handle executes a command for the ranks of the action.
func (j *action) handle(ctx context.Context, id ptp.Code, args arguments) {
	if j.value == nil && (id == ptp.Evaluate || id == ptp.EvaluatePartial) {
		j.value = &answerName{}
	}
	unknown, long := j.ranks.Minus(j.all), args.tooLong()
	switch {
	case j.failed != nil && id == ptp.Terminate:
		j.say(ptp.EventOK, j.ranks) // none runs; Eclipse sends QUIT only when all have ended
	case j.failed != nil:
		j.error(j.ranks, ptp.NoBackend, j.failed.Error())
	case !unknown.IsEmpty():
		j.error(j.ranks, ptp.BadTasks, fmt.Sprintf("%s: there are no tasks %v (the job has %v)", j.what, unknown, j.all))
	case long > 0:
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("%s: an argument of %d bytes; there may be %d", j.what, long, maxText))
	default:
		handlers[id](ctx, j, args)
	}
}

// allRanks is the set of an action that all later actions wait for.
var allRanks = rank.Range(0, rank.MaxID)

func (f *front) hasBegun() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begun
}

// start is START SESSION: the ranks are held at their first instruction, so that breakpoints can be
// set before the first GO.
func (f *front) start(ctx context.Context, c command) {
	f.mu.Lock()
	again := f.begun
	f.begun = true
	f.mu.Unlock()
	if again {
		f.log.Warn("START SESSION comes once") // no answer: it names no ranks
		return
	}
	f.begin(ctx, "START SESSION", allRanks, moving, func(ctx context.Context, j *action) {
		select {
		case <-f.opened:
		case <-ctx.Done():
			return
		}
		switch {
		case f.failed != nil:
			j.error(f.known(), ptp.NoBackend, f.failed.Error())
		case len(c.Args) < len(ptp.Commands[ptp.Start].Args):
			j.error(f.all, ptp.BadCommand, "START SESSION needs a program, its directory and the working directory")
		default:
			j.launch(ctx, jobOf(c.Args))
		}
	})
}

// known returns the ranks of the job as far as they are known: an error must be reported to Eclipse for
// all of them.
func (f *front) known() rank.Set {
	if f.all.IsEmpty() {
		return rank.Of(0)
	}
	return f.all
}

// jobOf reads the arguments of START SESSION.
func jobOf(args []string) protocol.Job {
	for i, a := range args {
		args[i] = ptp.Text(a)
	}
	program, dir := args[0], args[1]
	if dir != "" && !path.IsAbs(program) {
		program = path.Join(dir, program)
	}
	return protocol.Job{Program: program, Cwd: args[2], Args: args[3:], StopAt: "entry", TTY: true}
}

// launchWait bounds the start of the ranks: loading gdb from a busy file server takes time, and
// ranks that start after this time would not be reported to Eclipse. stoppedWait bounds the wait for their first stop.
const (
	launchWait  = 2 * time.Minute
	stoppedWait = 10 * time.Second
)

func (j *action) launch(ctx context.Context, of protocol.Job) {
	j.wait = launchWait
	started := j.results(ctx, "launch", j.all, protocol.Args{Job: &of}, ptp.NoDirectory)
	settling, cancel := context.WithTimeout(ctx, stoppedWait)
	defer cancel()
	for _, g := range started {
		j.awaitStopped(settling, g.Ranks) // a GO may follow at once
		j.say(ptp.EventOK, g.Ranks)
	}
}

func notImplemented(_ context.Context, j *action, _ arguments) {
	j.error(j.ranks, ptp.NotImplemented, j.what+" is not implemented")
}

// simple executes a command whose answer is OK.
func (j *action) simple(ctx context.Context, name string, args protocol.Args) {
	for _, g := range j.results(ctx, name, j.ranks, args, ptp.Unknown) {
		j.say(ptp.EventOK, g.Ranks)
	}
}

func resume(ctx context.Context, j *action, _ arguments) { j.simple(ctx, "continue", protocol.Args{}) }

// steps are the types of STEP.
var steps = []string{"step", "next", "finish"}

func step(ctx context.Context, j *action, args arguments) {
	count, ok := j.number(args, 0)
	if !ok {
		return
	}
	kind, ok := j.number(args, 1)
	switch {
	case !ok:
	case kind < 0 || kind >= len(steps):
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("STEP of type %d: it is 0 into, 1 over or 2 return", kind))
	case kind == 2:
		j.simple(ctx, steps[kind], protocol.Args{})
	default:
		j.simple(ctx, steps[kind], protocol.Args{Count: max(count, 1)})
	}
}

// endWait bounds the wait for the end of ranks that were killed.
const endWait = 5 * time.Second

// terminate kills ranks; for those that have ended the answer is OK too. Eclipse ends the session at
// the OK for the last rank, so the output of the ranks must have come before.
func terminate(ctx context.Context, j *action, _ arguments) {
	var failed []protocol.Group
	killed := j.ranks
	for _, g := range j.ask(ctx, "kill", j.ranks.Minus(j.ended()), protocol.Args{}) {
		if g.Kind != protocol.KindResult {
			failed, killed = append(failed, g), killed.Minus(g.Ranks)
		}
	}
	ending, cancel := context.WithTimeout(ctx, endWait)
	defer cancel()
	j.awaitEnd(ending, killed)
	killed = killed.Union(j.ranks.Intersect(j.ended())) // the gdb of a lost rank cannot kill it
	for _, g := range failed {
		if g.Ranks = g.Ranks.Minus(killed); !g.Ranks.IsEmpty() {
			j.fail(g, ptp.Unknown)
		}
	}
	j.noteTerminated(killed)
	if !killed.IsEmpty() {
		j.say(ptp.EventOK, killed)
	}
}

// noteTerminated notes that the front end regards ranks as ended.
func (f *front) noteTerminated(ranks rank.Set) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed = f.killed.Union(ranks)
}

// interrupt has no answer but the stop that it causes.
func interrupt(ctx context.Context, j *action, _ arguments) {
	j.results(ctx, "interrupt", j.ranks, protocol.Args{}, ptp.Unknown)
}

func setFrame(ctx context.Context, j *action, args arguments) {
	level, ok := j.number(args, 0)
	if !ok {
		return
	}
	for _, g := range j.results(ctx, "frame", j.ranks, protocol.Args{Frame: &level}, ptp.Unknown) {
		j.move(g.Ranks, func(x *spot) { x.level, x.locals = level, nil })
		j.say(ptp.EventOK, g.Ranks)
	}
}

// handleSignal passes the arguments of gdb's "handle": signals, then actions.
func handleSignal(ctx context.Context, j *action, args arguments) {
	signal, actions, _ := strings.Cut(strings.TrimSpace(args[0]), " ")
	j.simple(ctx, "handle", protocol.Args{Signal: signal, Actions: strings.Fields(actions)})
}

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
