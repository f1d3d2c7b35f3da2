// The cost of a print without gdb.

package gdb

import (
	"fmt"
	"testing"

	"sdm/backend"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// BenchmarkAnswer measures one rank's part of a print: command, call, result, answer.
func BenchmarkAnswer(b *testing.B) {
	m := newMachine(backend.Target{Rank: 3, PID: 42}, host{})
	newDebugger(1).add(m)
	m.state = backend.Stopped
	m.thread(1)
	parser := mi.Parser{Want: wanted}
	c := &command{name: "print", args: protocol.Args{Expr: "rank"}}
	b.ReportAllocs()
	for b.Loop() {
		m.gdb.asked = rank.Range(0, 63)
		m.do(1, 7, 0, c)
		m.gdb.take()
		token := m.gdb.calls.current().token
		parser.Feed(fmt.Appendf(nil, "%d^done,value=\"41\"\n(gdb) \n", token), func(r mi.Record) { m.gdb.record(2, r) })
		if len(m.out.said) != 1 || m.out.said[0].group.Kind != protocol.KindResult {
			b.Fatalf("it says %v", m.out.said)
		}
		m.gdb.deadline()
		m.out = effects{said: m.out.said[:0]}
	}
}
