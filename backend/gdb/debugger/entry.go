// A started rank at its first instruction, and how it goes from there to its first stop.

package debugger

import (
	"fmt"
	"sdm/backend/gdb/breakpoint"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"slices"
)

// tellLanguage makes gdb determine the language from the program. After an attach it is C while the rank is
// in code without a language, such as the loader.
func (b *bringUp) tellLanguage() { b.Tell("set language", "-gdb-set", "language", "auto") }

// goToFirstStop goes to the first stop. If the target runs there, the request is answered after
// the rank is reported as running: when the last rank answers, all events of the start
// have been reported.
func (b *bringUp) goToFirstStop(q *request.Request, first *values.Thread) {
	if !b.Target.Held && !b.atEntry {
		b.Done(q)
		b.record.beginRecord()
		b.abort.watchAbort()
		b.stops.stopAttached(first)
		return
	}
	if b.first.stopAt == stopAtEntry {
		b.Done(q)
		b.stayAtEntry("")
		return
	}
	if b.first.stopAt == stopAtNone {
		b.abort.watchAbort() // for a program that was linked with a static MPI
		b.leaveEntry(q)
		return
	}
	b.first.place = b.first.stopAt
	b.first.breakAtStart(q, b.first.stopAt, func(a request.Answer) { b.entryPoint(q, a) })
}

// entryPoint continues with the breakpoint of the first stop.
func (b *bringUp) entryPoint(q *request.Request, a request.Answer) {
	if b.State.IsOver() {
		return
	}
	if a.Failed() {
		b.first.arrived()
		why := fmt.Sprintf("cannot stop at %s: %s The rank stays at its first instruction.", b.first.stopAt, a.Results.Str("msg"))
		if breakpoint.IsUnknownPlace(a.Results.Str("msg")) && b.first.stopAt != stopAtMain {
			b.goByMain(q, why)
			return
		}
		b.Done(q)
		b.stayAtEntry(why)
		return
	}
	b.points.Claim(0, b.first.stopAt, a.Results.Path("bkpt").Fields)
	b.leaveEntry(q)
}

func (b *bringUp) leaveEntry(q *request.Request) { b.runs.resumeAll(q) }

func (b *bringUp) stayAtEntry(why string) {
	if why != "" {
		b.Event(protocol.KindNote, protocol.Note{Text: why})
	}
	first := b.threads.Find(1)
	if first == nil {
		return
	}
	b.stops.withDisplays(first, func(shown []protocol.Display, texts []string, _ breakpoint.Output) {
		body := b.stops.stopBody(first, "entry")
		body.Displays = shown
		c := values.ColumnsWith(b.Target.Rank, b.stops.stopColumns(first))
		c.Displays(shown, texts)
		b.Event(protocol.KindStopped, body, c.Sorted()...)
	})
}

// before returns the commands for a rank that starts. At its first instruction no
// libraries are loaded, so breakpoints become pending.
func (b *bringUp) before() []protocol.Command {
	all := slices.Clone(b.Target.Before)
	for i := range all {
		if info, _ := protocol.LookupCommand(all[i].Name); (b.Target.Held || b.atEntry) && info.MakesPoint() && info.Takes("location") {
			all[i].Args.Pending = true
		}
	}
	return all
}

// goByMain lets a rank run to main if the program does not have the place of its first stop: its libraries, one of
// which may have it, are loaded by then. why says that the rank stays where it is, if it has no main.
func (b *bringUp) goByMain(q *request.Request, why string) {
	b.first.place = stopAtMain
	b.first.breakAtStart(q, stopAtMain, func(a request.Answer) {
		switch {
		case b.State.IsOver():
		case a.Failed():
			b.Done(q)
			b.first.arrived()
			b.stayAtEntry(why)
		default:
			b.points.Claim(0, stopAtMain, a.Results.Path("bkpt").Fields)
			b.leaveEntry(q)
		}
	})
}
