// The cost of a print without gdb.

package debugger

import (
	"fmt"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb/request"
	"sdm/backend/mi"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// BenchmarkAnswer measures one rank's part of a print: command, call, result, answer.
func BenchmarkAnswer(b *testing.B) {
	m := NewMachine(backend.Target{Rank: 3, PID: 42}, Host{})
	d := New(1)
	d.Add(m)
	m.State = backend.Stopped
	m.Thread(1)
	parser := mi.Parser{Want: WantsRecord}
	c := &request.Command{Name: "print", Args: protocol.Args{Expr: "rank"}}
	b.ReportAllocs()
	for b.Loop() {
		d.Asked = rank.Range(0, 63)
		m.Do(1, 7, 0, c)
		d.Take()
		token := d.Calls.current().token
		parser.Feed(fmt.Appendf(nil, "%d^done,value=\"41\"\n(gdb) \n", token), func(r mi.Record) { d.Record(2, r) })
		if len(m.Out.Messages) != 1 || m.Out.Messages[0].Group.Kind != protocol.KindResult {
			b.Fatalf("it says %v", m.Out.Messages)
		}
		d.Deadline()
		m.Out = Effects{Messages: m.Out.Messages[:0]}
	}
}
