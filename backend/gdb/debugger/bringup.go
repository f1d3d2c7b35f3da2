// The way of a rank from the attach to its first stop.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
)

// bringUp brings a rank that gdb has under control to its first stop.
type bringUp struct {
	*core
	first    *firstStop
	wrapper  *wrapper
	symbols  *symbols
	record   *recording
	abort    *abortWatch
	stops    *stops
	runs     *runs
	commands *commands
}

// begin continues after the attach for a request: with the commands that were given before, and to the first stop.
func (b *bringUp) begin(q *request.Request, first *values.Thread) {
	if first.Stop.Str("reason") == values.StopAtCore {
		b.stops.stopNamed(first, "")
		return
	}
	if b.seeksProgram() {
		b.seekProgram(q)
		return
	}
	before := b.before()
	if len(before) > 0 {
		b.symbols.ReadLibraries()
	}
	if b.Target.Held && (len(before) > 0 || b.first.stopAt == stopAtEntry) {
		b.tellLanguage()
	}
	b.commands.replay(before, func() {
		b.symbols.named(first, func() { b.goToFirstStop(q, first) })
	})
}

// askRegisters asks for the names of registers, once for each shared gdb.
func (b *bringUp) askRegisters() {
	if !b.GDB.Shared() || b.GDB.registers != nil {
		return
	}
	b.GDB.registers = map[string]bool{"pc": true, "sp": true, "fp": true, "ps": true}
	b.ask(request.Internal("attach"), func(a request.Answer) {
		for _, f := range a.Results.Path("register-names").Fields {
			b.GDB.registers[f.Value.Str] = true
		}
	}, "-data-list-register-names", b.At(request.Internal(""))...)
}
