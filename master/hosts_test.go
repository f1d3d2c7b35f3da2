package master

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/wire"
)

// engines answers info hosts as servers do: ranks 0-1 run another program, and 7 is silent.
func engines(f *fakeRoot, m wire.Message) {
	if m.Kind != wire.Command {
		obedient(f, m)
		return
	}
	pids := column.OfValues("pid", []column.ValueCount{{Value: "100", Ranks: rank.Of(0)}, {Value: "101", Ranks: rank.Of(1)}}, -1)
	f.reply(m.ID, wire.Final,
		protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(0, 1), Body: []byte(`{"engine":"gdb 13.1","program":"/a"}`), Columns: []column.Column{pids}},
		protocol.Group{Kind: protocol.KindResult, Ranks: rank.Range(2, 6), Body: []byte(`{"engine":"gdb 13.1","program":"/b"}`)},
		protocol.Group{Kind: protocol.KindMissing, Ranks: rank.Of(7), Body: []byte(`{"cause":"no answer in 1s"}`)})
}

func TestInfoHosts(t *testing.T) {
	forgone := session.Absent{Ranks: rank.Range(8, 9), Hosts: []string{"node03"}, Cause: "no route to host"}
	m, _ := newFakeOf(t, Config{Partial: true}, engines)
	defer closeNow(t, m)
	if _, err := m.Init(context.Background(), twoHosts(), time.Second, forgone); err != nil {
		t.Fatal(err)
	}
	got := call(t, m, session.Call{Command: "info hosts"})
	want := `{"event":"lost","ranks":"8-9","n":2,"cause":"no route to host","hosts":["node03"]}
{"event":"reply","id":2,"command":"info hosts","ranks":"0-1","n":2,"result":{"hosts":["node01"],"servers":"0","engine":"gdb 13.1","program":"/a","states":[{"state":"unstarted","n":2}]},"columns":{"pid":PIDS}}
{"event":"reply","id":2,"command":"info hosts","ranks":"2-3","n":2,"result":{"hosts":["node01"],"servers":"0","engine":"gdb 13.1","program":"/b","states":[{"state":"unstarted","n":2}]}}
{"event":"reply","id":2,"command":"info hosts","ranks":"4-6","n":3,"result":{"hosts":["node02"],"servers":"1","engine":"gdb 13.1","program":"/b","states":[{"state":"unstarted","n":3}]}}
{"event":"reply","id":2,"command":"info hosts","ranks":"7","n":1,"result":{"hosts":["node02"],"servers":"1","states":[{"state":"unstarted","n":1}]}}
{"event":"reply","id":2,"command":"info hosts","ranks":"8-9","n":2,"result":{"hosts":["node03"],"states":[{"state":"lost","n":2}]}}
`
	pids, _, _ := strings.Cut(got[strings.Index(got, `"pid":`)+len(`"pid":`):], "}\n")
	want = strings.Replace(want, "PIDS}}", pids+"}", 1)
	if !strings.HasPrefix(got, want) || !strings.Contains(pids, `[{"value":"100","ranks":"0"},{"value":"101","ranks":"1"}]`) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, part := range []string{`{"event":"missing","id":2,`, `"ranks":"7","n":1`, `"asked":10,"answered":7,"missing":"7","lost":"8-9"`} {
		if !strings.Contains(got, part) {
			t.Errorf("no %s in\n%s", part, got)
		}
	}
}

// If there are many hosts, equal ones are one row.
func TestAlikeHosts(t *testing.T) {
	var rows []hostRow
	for i := range 20 {
		r := hostRow{ranks: rank.Range(rank.ID(2*i), rank.ID(2*i+1)), each: 2, servers: rank.Of(rank.ID(i))}
		r.Hosts, r.Engine = []string{fmt.Sprintf("n%d", i)}, "gdb 13.1"
		r.States = []protocol.StateCount{{State: "stopped", N: 2}}
		if i == 7 {
			r.Engine = "gdb 12.1"
		}
		rows = append(rows, r)
	}
	joined := joinEqual(rows)
	if len(joined) != 2 || len(joined[0].Hosts) != 19 || joined[0].servers.String() != "0-6,8-19" || joined[0].States[0].N != 38 || joined[1].ranks.String() != "14-15" {
		t.Errorf("%+v", joined)
	}
	if rows[0].States[0].N != 2 {
		t.Error("a row was changed")
	}
	if few := joinEqual(rows[:manyHosts]); len(few) != manyHosts {
		t.Errorf("%d rows of few hosts", len(few))
	}
}
