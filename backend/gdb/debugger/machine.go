// One rank under its gdb: input are records and requests, output are commands, answers
// and events.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// Machine is one rank under its gdb: the core and its parts. It is pure: it does no I/O, and the time is an argument:
// the time since the start of the host. Each input (Start, Do, Debugger.Record, Ended,
// TargetEnded, Debugger.Died, Missed, Debugger.Tick, Close) leaves its effects in Out and in
// the debugger. The host executes them before the next input.
type Machine struct {
	*core
	groupStop    *groupStop
	first        *firstStop
	wrapper      *wrapper
	Record       *recording
	Symbols      *symbols
	filters      *filters
	signals      *signals
	abort        *abortWatch
	stops        *stops
	runs         *runs
	steps        *steps
	interruption *interruption
	termination  *termination
	attach       *attachment
	commands     *commands
	bringUp      *bringUp
	recovery     *recovery
	moves        *moves
}

// NewMachine makes the machine of a target; Debugger.Add connects it with its gdb.
func NewMachine(t backend.Target, h Host) *Machine {
	c := &core{Target: t, Host: h, chosen: request.Selection{Thread: 1}}
	m := &Machine{core: c}
	m.groupStop = &groupStop{core: c}
	m.first = &firstStop{core: c}
	m.wrapper = &wrapper{core: c, first: m.first}
	m.Record = &recording{core: c}
	m.Symbols = &symbols{core: c}
	m.filters = &filters{core: c}
	m.signals = &signals{core: c, groupStop: m.groupStop}
	m.abort = &abortWatch{core: c, symbols: m.Symbols}
	m.stops = &stops{core: c, symbols: m.Symbols, first: m.first, record: m.Record}
	m.runs = &runs{
		core: c, groupStop: m.groupStop, first: m.first, record: m.Record, signals: m.signals,
		abort: m.abort, stops: m.stops,
	}
	m.steps = &steps{core: c, record: m.Record, stops: m.stops, runs: m.runs}
	m.interruption = &interruption{core: c}
	m.termination = &termination{core: c, groupStop: m.groupStop, first: m.first, wrapper: m.wrapper, runs: m.runs}
	m.attach = &attachment{
		core: c, groupStop: m.groupStop, first: m.first, symbols: m.Symbols, wrapper: m.wrapper,
		termination: m.termination,
	}
	m.commands = &commands{
		core: c, symbols: m.Symbols, groupStop: m.groupStop, signals: m.signals, runs: m.runs, steps: m.steps,
		interruption: m.interruption, termination: m.termination,
		lines: &lines{
			core: c, groupStop: m.groupStop, filters: m.filters, stops: m.stops, runs: m.runs,
			interruption: m.interruption, termination: m.termination,
		},
	}
	m.bringUp = &bringUp{
		core: c, first: m.first, wrapper: m.wrapper, symbols: m.Symbols, record: m.Record,
		abort: m.abort, stops: m.stops, runs: m.runs, commands: m.commands,
	}
	m.recovery = &recovery{
		core: c, first: m.first, wrapper: m.wrapper, abort: m.abort, stops: m.stops,
		runs: m.runs, interruption: m.interruption, termination: m.termination, commands: m.commands, bringUp: m.bringUp,
	}
	m.moves = &moves{
		core: c, groupStop: m.groupStop, termination: m.termination, commands: m.commands,
		recovery: m.recovery,
	}
	c.values = values.New(view{c, m.Symbols})
	c.breaks = breakpoint.New(view{c, m.Symbols}, &c.points, c.values, m.runs.resumeAll)
	c.refusing = m.stops.stoppedInCall
	return m
}
