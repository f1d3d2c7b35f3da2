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

// nobody is the set in answers to commands without a valid set.
const nobody = "1:00"

// handlers execute the commands for a set of tasks. Each collects all answers that it needs before
// it reports.
var handlers = map[ptp.Code]func(context.Context, *job, arguments){
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
	}
	return inTurn
}

// command processes a command; quit tells that it is the last one.
func (f *front) command(ctx context.Context, c command) (quit bool) {
	f.log.Debug("command", "packet", c.Packet, "err", c.bad)
	info, known := ptp.LookupCommand(c.ID)
	switch {
	case c.bad != nil:
		f.log.Error("a packet cannot be read", "err", c.bad)
	case c.ID == ptp.Quit && known:
		return true
	case c.ID == ptp.Start:
		f.start(ctx, c)
	case c.isFlowControl():
		if c.ID <= flowResume {
			f.out.hold(c.ID == flowHold)
		}
	case !c.hasSet(): // Java takes an answer to no one for that of the command that it waits for
		f.log.Error("a command without a set of tasks", "packet", c.Packet)
	case !known:
		f.reject(c.set(), ptp.BadCommand, fmt.Sprintf("there is no command %d", c.ID))
	default:
		f.commandTo(ctx, info, c)
	}
	return false
}

// Codes of flow control: hold output, and resume it. 10 and 11, which follow with two arguments, are
// about the standard streams of Eclipse's own client.
const (
	flowHold   ptp.Code = 8
	flowResume ptp.Code = 9
)

// isFlowControl recognizes commands of Eclipse's runtime client about the flow of its own events.
// They have the numbers of other commands here, and no set.
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

// set returns the set as it was written, or nobody.
func (c command) set() string {
	if c.hasSet() {
		return c.Args[0]
	}
	return nobody
}

// commandTo begins a command for a set of tasks.
func (f *front) commandTo(ctx context.Context, info ptp.CommandInfo, c command) {
	ranks, _, err := ptp.ParseSet(c.Args[0])
	args := make(arguments, 0, len(c.Args)-1)
	for _, a := range c.Args[1:] {
		args = append(args, ptp.Text(a))
	}
	switch {
	case err != nil: // see hasSet
	case len(args) < len(info.Args):
		f.reject(c.Args[0], ptp.BadCommand, fmt.Sprintf("%s needs %d arguments behind the set of tasks (%s), and has %d", info.Name, len(info.Args), strings.Join(info.Args, ", "), len(args)))
	case !f.hasBegun():
		f.reject(c.Args[0], ptp.NoSession, info.Name+" before START SESSION")
	case ranks.IsEmpty():
		f.out.sendTo(c.Args[0], ptp.EventOK) // an empty set: nothing to do
	default:
		f.begin(ctx, info.Name, ranks, orderOf(c.ID), func(ctx context.Context, j *job) {
			if strangers := ranks.Minus(f.all); !strangers.IsEmpty() {
				j.error(ranks, ptp.BadTasks, fmt.Sprintf("%s: there are no tasks %v (the job has %v)", info.Name, strangers, f.all))
				return
			}
			handlers[c.ID](ctx, j, args)
		})
	}
}

// arguments are those after the set of tasks, as text.
type arguments []string

// number reads an integer argument; it reports an error if it is not one.
func (j *job) number(args arguments, i int) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(args[i]))
	if err != nil || n < -1<<31 || n > 1<<31-1 {
		j.error(j.ranks, ptp.BadCommand, fmt.Sprintf("%s: %.40q is no number", j.what, args[i]))
		return 0, false
	}
	return n, true
}

func isTrue(arg string) bool { return arg != "" && arg != "0" }

// everyone is the set of a job that all later jobs wait for.
var everyone = rank.Range(0, rank.MaxID)

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
	switch {
	case again:
		f.reject(nobody, ptp.InProgress, "START SESSION comes once")
		return
	case len(c.Args) < len(ptp.Commands[ptp.Start].Args):
		f.reject(nobody, ptp.BadCommand, "START SESSION needs a program, its directory and the working directory")
		f.mu.Lock()
		f.begun = false
		f.mu.Unlock()
		return
	}
	f.begin(ctx, "START SESSION", everyone, moving, func(ctx context.Context, j *job) {
		select {
		case <-f.opened:
		case <-ctx.Done():
			return
		}
		if f.failed != nil {
			told := f.all
			if told.IsEmpty() {
				told = rank.Of(0)
			}
			j.error(told, ptp.NoBackend, f.failed.Error()) // Eclipse ends the session then, by QUIT
			return
		}
		j.launch(ctx, jobOf(c.Args))
	})
}

// jobOf reads the arguments of START SESSION. The ranks get terminals, as from the original SDM: what
// they write appears while they are stepped.
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
// Eclipse would not be told of late ranks. settleWait bounds the wait for their first stop.
const (
	launchWait = 2 * time.Minute
	settleWait = 10 * time.Second
)

func (j *job) launch(ctx context.Context, of protocol.Job) {
	j.wait = launchWait
	started := j.look(ctx, "launch", j.all, protocol.Args{Job: &of}, ptp.NoDirectory)
	settling, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	for _, g := range started {
		j.settle(settling, g.Ranks) // a GO may follow at once
		j.say(ptp.EventOK, g.Ranks)
	}
}

func notImplemented(_ context.Context, j *job, _ arguments) {
	j.error(j.ranks, ptp.NotImplemented, j.what+" is not implemented")
}

// plainly executes a command whose answer is OK.
func (j *job) plainly(ctx context.Context, name string, args protocol.Args) {
	for _, g := range j.look(ctx, name, j.ranks, args, ptp.Unknown) {
		j.say(ptp.EventOK, g.Ranks)
	}
}

func resume(ctx context.Context, j *job, _ arguments) { j.plainly(ctx, "continue", protocol.Args{}) }

// steps are the types of STEP.
var steps = []string{"step", "next", "finish"}

func step(ctx context.Context, j *job, args arguments) {
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
		j.plainly(ctx, steps[kind], protocol.Args{})
	default:
		j.plainly(ctx, steps[kind], protocol.Args{Count: max(count, 1)})
	}
}

// terminate kills ranks; for those that have ended the answer is OK too.
func terminate(ctx context.Context, j *job, _ arguments) {
	gone := j.ranks.Intersect(j.ended())
	if !gone.IsEmpty() {
		j.say(ptp.EventOK, gone)
	}
	living := j.ranks.Minus(gone)
	j.terminates(living, true)
	for _, g := range j.look(ctx, "kill", living, protocol.Args{}, ptp.Unknown) {
		j.say(ptp.EventOK, g.Ranks)
		living = living.Minus(g.Ranks)
	}
	j.terminates(living, false)
}

// terminates records ranks that TERMINATE ends, or no longer those that it could not end. Java takes
// its OK for their end; an EXIT behind it would add a second one.
func (f *front) terminates(ranks rank.Set, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if on {
		f.terminated = f.terminated.Union(ranks)
	} else {
		f.terminated = f.terminated.Minus(ranks)
	}
}

// interrupt has no answer but the stop that it causes.
func interrupt(ctx context.Context, j *job, _ arguments) {
	j.look(ctx, "interrupt", j.ranks, protocol.Args{}, ptp.Unknown)
}

func setFrame(ctx context.Context, j *job, args arguments) {
	if level, ok := j.number(args, 0); ok {
		j.plainly(ctx, "frame", protocol.Args{Frame: &level})
	}
}

// handleSignal passes the arguments of gdb's "handle": signals, then actions.
func handleSignal(ctx context.Context, j *job, args arguments) {
	signal, actions, _ := strings.Cut(strings.TrimSpace(args[0]), " ")
	j.plainly(ctx, "handle", protocol.Args{Signal: signal, Actions: strings.Fields(actions)})
}
