package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// frontEnd is a front end in a test: it sends and receives lines.
type frontEnd struct {
	t      *testing.T
	conn   *Conn
	served chan error
}

// serve returns a front end of a session that open makes.
func serve(t *testing.T, open Open) *frontEnd {
	t.Helper()
	return serveWith(t, open, Options{Build: "test", Job: "4711"})
}

func serveWith(t *testing.T, open Open, o Options) *frontEnd {
	t.Helper()
	master, front := net.Pipe()
	f := &frontEnd{t: t, conn: newConn(front, "test", maxAnswer), served: make(chan error, 1)}
	go func() {
		f.served <- Serve(context.Background(), newConn(master, "pipe", maxRequest), open, o)
	}()
	return f
}

// opened opens an existing session.
func opened(s session.Session) Open {
	return func(context.Context, Setup, func(string)) (session.Session, session.Report, error) {
		return s, session.Report{Servers: 2, Ranks: rank.Range(0, 7)}, nil
	}
}

func (f *frontEnd) send(body string) {
	f.t.Helper()
	if err := f.conn.write([]byte(body)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *frontEnd) receive(want ...string) {
	f.t.Helper()
	for _, w := range want {
		body, err := f.conn.read()
		if err != nil {
			f.t.Fatalf("%v, want %s", err, w)
		}
		if string(body) != w {
			f.t.Errorf("heard:\n%s\nwant:\n%s", body, w)
		}
	}
}

// starting is the first event while a tree is built.
const starting = `{"jsonrpc":"2.0","method":"event","params":{"event":"job","ranks":"","n":0,"state":"starting","job":"4711"}}`

func (f *frontEnd) initialize() {
	f.t.Helper()
	f.send(`{"jsonrpc":"2.0","id":0,"method":"initialize"}`)
	f.receive(starting, `{"jsonrpc":"2.0","id":0,"result":{"version":1,"build":"test","servers":2,"ranks":"0-7"}}`)
}

// hangUp closes the connection and returns the result of Serve.
func (f *frontEnd) hangUp() error {
	f.conn.Close()
	return <-f.served
}

func tape(t *testing.T, text string) *sessiontest.Tape {
	t.Helper()
	tp, err := sessiontest.ReadTape(text)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func TestServe(t *testing.T) {
	tp := tape(t, `
> print n
{"event":"reply","ranks":"0-6","n":7,"result":{"expr":"n"}}
{"event":"error","ranks":"7","n":1,"kind":"gdb","message":"No symbol \"n\" in current context."}
{"event":"done","asked":8,"answered":8,"faults":1,"ms":3.1}
> continue, streamed
{"event":"running","ranks":"0-7","n":8}
{"event":"reply","ranks":"0-7","n":8,"result":{}}
{"event":"done","asked":8,"answered":8,"ms":1}
{"event":"exited","ranks":"0-7","n":8,"code":0}
> prnit
! unknown command "prnit"
> print
! needs an expression
`)
	defer tp.Close(context.Background())
	f := serve(t, opened(tp))
	f.initialize()
	f.send(`{"jsonrpc":"2.0","id":1,"method":"print","params":{"expr":"n","ranks":"all","wait":"2s"}}`)
	f.receive(`{"jsonrpc":"2.0","id":1,"result":{"id":1,"answers":[` +
		`{"event":"reply","id":1,"command":"print","ranks":"0-6","n":7,"result":{"expr":"n"}},` +
		`{"event":"error","id":1,"command":"print","ranks":"7","n":1,"kind":"gdb","message":"No symbol \"n\" in current context."}],` +
		`"done":{"event":"done","id":1,"command":"print","asked":8,"answered":8,"faults":1,"ms":3.1}}}`)
	f.send(`{"jsonrpc":"2.0","id":"two","method":"continue","params":{"stream":true}}`)
	var heard []string
	for range 5 {
		body, err := f.conn.read()
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, string(body))
	}
	want := []string{ // the number comes before the events of the call
		`{"jsonrpc":"2.0","method":"event","params":{"event":"running","ranks":"0-7","n":8}}`,
		`{"jsonrpc":"2.0","id":"two","result":{"id":2}}`,
		`{"jsonrpc":"2.0","method":"event","params":{"event":"reply","id":2,"command":"continue","ranks":"0-7","n":8,"result":{}}}`,
		`{"jsonrpc":"2.0","method":"event","params":{"event":"done","id":2,"command":"continue","asked":8,"answered":8,"ms":1}}`,
		`{"jsonrpc":"2.0","method":"event","params":{"event":"exited","ranks":"0-7","n":8,"code":0}}`,
	}
	if strings.HasPrefix(heard[0], `{"jsonrpc":"2.0","id"`) {
		want[0], want[1] = want[1], want[0] // the number was sent before any event
	}
	if strings.Join(heard, "\n") != strings.Join(want, "\n") {
		t.Errorf("heard:\n%s", strings.Join(heard, "\n"))
	}
	f.send(`{"jsonrpc":"2.0","id":3,"method":"prnit"}`)
	f.receive(`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"unknown command \"prnit\"","data":{"kind":"usage","message":"unknown command \"prnit\""}}}`)
	f.send(`{"jsonrpc":"2.0","id":4,"method":"print"}`)
	f.receive(`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"needs an expression","data":{"kind":"usage","message":"needs an expression"}}}`)
	f.send(`{"jsonrpc":"2.0","id":5,"method":"print","params":{"exrp":"n"}}`)
	f.receive(`{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"params: unknown field \"exrp\" (params are an object; docs/protocol.md lists its fields)"}}`)
	f.send(`{oops`)
	f.receive(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON: invalid character 'o' looking for beginning of object key string"}}`)
	f.send(`[{"jsonrpc":"2.0","id":5,"method":"print"}]`)
	f.receive(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"not a JSON-RPC 2.0 request: json: cannot unmarshal array into Go value of type rpc.message"}}`)
	f.send(`{"jsonrpc":"2.0","id":6,"method":"initialize"}`)
	f.receive(`{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"initialize comes once"}}`)
	if err := f.hangUp(); !errors.Is(err, ErrGone) {
		t.Errorf("Serve: %v", err)
	}
	calls := tp.Calls()
	if c := calls[0]; c.Command != "print" || c.Ranks != "all" || c.Wait.String() != "2s" || c.Args.Expr != "n" {
		t.Errorf("call: %+v", c)
	}
}

// TestSummaryOfASharedSession asks sessions, of one front end and of several, without joining them.
func TestSummaryOfASharedSession(t *testing.T) {
	for want, summary := range map[string]func() session.Summary{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"this session is not shared"}}`: nil,
		`{"jsonrpc":"2.0","id":1,"result":{"states":[{"state":"running","ranks":"0-7"}]}}`: func() session.Summary {
			return session.Summary{States: []session.StateRanks{{State: session.Running, Ranks: rank.Range(0, 7)}}}
		},
	} {
		f := serveWith(t, opened(nil), Options{Summary: summary})
		f.send(`{"jsonrpc":"2.0","id":1,"method":"summary"}`)
		f.receive(want)
		if err := f.hangUp(); !errors.Is(err, ErrGone) {
			t.Error(err)
		}
	}
}

func TestServeEarly(t *testing.T) {
	f := serve(t, opened(nil))
	f.send(`{"jsonrpc":"2.0","id":1,"method":"print","params":{"expr":"n"}}`)
	f.receive(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize comes first"}}`)
	f.send(`{"jsonrpc":"2.0","id":2,"method":"hello","params":{}}`)
	f.receive(`{"jsonrpc":"2.0","id":2,"result":{"version":1,"build":"test","challenge":"","proof":""}}`)
	f.send(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"rendezvous":"x:1","routing_file":"y"}}`)
	f.receive(`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"table, routing_file and rendezvous exclude one another"}}`)
	f.send(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"servers":99999999999}}`)
	f.receive(`{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"servers: must not be negative, or more than 16777216"}}`)
	f.send(`{"jsonrpc":"2.0","id":4,"method":"shutdown"}`)
	f.receive(`{"jsonrpc":"2.0","id":4,"result":{}}`)
	if err := <-f.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

func TestServeNotReady(t *testing.T) {
	report := session.Report{Servers: 2, Ranks: rank.Range(0, 7), Absent: []session.Absent{
		{Servers: rank.Of(1), Hosts: []string{"node02"}, Cause: "connection refused"},
	}}
	tries := 0
	tp := tape(t, "")
	defer tp.Close(context.Background())
	f := serve(t, func(_ context.Context, s Setup, note func(string)) (session.Session, session.Report, error) {
		if tries++; tries == 2 {
			return tp, session.Report{Servers: 1, Ranks: rank.Of(0)}, nil
		}
		if s.Servers != 2 || s.Rendezvous != "node01:5000" {
			t.Errorf("setup: %+v", s)
		}
		note("1 of 2 servers has come")
		return nil, report, report.Err()
	})
	f.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"rendezvous":"node01:5000","servers":2,"wait":1.5}}`)
	f.receive(starting,
		`{"jsonrpc":"2.0","method":"event","params":{"event":"note","ranks":"","n":0,"text":"1 of 2 servers has come"}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"1 of 2 servers are not ready: server 1 on node02: connection refused",`+
			`"data":{"servers":2,"ranks":"0-7","absent":[{"servers":"1","hosts":["node02"],"cause":"connection refused"}]}}}`)
	f.send(`{"jsonrpc":"2.0","id":2,"method":"initialize"}`)
	f.receive(starting, `{"jsonrpc":"2.0","id":2,"result":{"version":1,"build":"test","servers":1,"ranks":"0"}}`)
	if err := f.hangUp(); !errors.Is(err, ErrGone) {
		t.Errorf("Serve: %v", err)
	}
}

// Long sets of a report are truncated as those of events, unless the front end asks for complete
// ones, in a result and in an error.
func TestServeBriefReport(t *testing.T) {
	var ids []rank.ID
	for i := range rank.ID(8192) {
		ids = append(ids, 2*i)
	}
	ready := session.Report{Servers: 1, Ranks: rank.Of(ids...)}
	absent := session.Report{Servers: 16384, Ranks: rank.Range(0, 16383), Absent: []session.Absent{{Servers: rank.Of(ids...), Cause: "no answer"}}}
	for _, whole := range []bool{false, true} {
		tp := tape(t, "")
		tries := 0
		f := serve(t, func(context.Context, Setup, func(string)) (session.Session, session.Report, error) {
			if tries++; tries == 2 {
				return tp, ready, nil
			}
			return nil, absent, absent.Err()
		})
		for id := range 2 {
			f.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"whole_sets":%v}}`, id, whole))
			f.receive(starting)
			body, err := f.conn.read()
			if err != nil {
				t.Fatal(err)
			}
			// The text of the error is short in any case.
			if data := body[max(bytes.Index(body, []byte(`"data"`)), 0):]; bytes.Contains(data, []byte(`,...+`)) == whole || len(body) > 30<<10 != whole {
				t.Errorf("call %d, whole %v: %d bytes: %.1000s", id, whole, len(body), body)
			}
		}
		if err := f.hangUp(); !errors.Is(err, ErrGone) {
			t.Errorf("Serve: %v", err)
		}
		tp.Close(context.Background())
	}
}

// The end of the connection must be noticed while the tree is built.
func TestServeGoneWhileBuilding(t *testing.T) {
	begun := make(chan struct{})
	f := serve(t, func(ctx context.Context, _ Setup, _ func(string)) (session.Session, session.Report, error) {
		close(begun)
		<-ctx.Done()
		return nil, session.Report{}, ctx.Err()
	})
	f.send(`{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	<-begun
	if err := f.hangUp(); !errors.Is(err, ErrGone) {
		t.Errorf("Serve: %v", err)
	}
}

// A front end may close its connection once its quit is answered: the session has ended for it.
func TestServeQuitAndHangUp(t *testing.T) {
	for _, params := range []string{`{}`, `{"stream":true}`} {
		tp := tape(t, "> quit\n"+`{"event":"done","asked":8,"answered":8,"ms":1}`+"\n")
		defer tp.Close(context.Background())
		f := serve(t, opened(tp))
		f.initialize()
		f.send(`{"jsonrpc":"2.0","id":1,"method":"quit","params":` + params + `}`)
		for answered := false; !answered; {
			body, err := f.conn.read()
			if err != nil {
				t.Fatal(err)
			}
			answered = strings.Contains(string(body), `"event":"done"`)
		}
		if err := f.hangUp(); err != nil {
			t.Errorf("with params %s: %v", params, err)
		}
	}
}

// When the session ends, outstanding calls are answered.
func TestServeEndOfSession(t *testing.T) {
	held := &holding{stream: session.NewStream(), calls: make(chan struct{})}
	f := serve(t, opened(held))
	f.initialize()
	f.send(`{"jsonrpc":"2.0","id":1,"method":"print","params":{"expr":"n"}}`)
	go func() {
		<-held.asked()
		held.stream.End(context.Background())
	}()
	f.receive(`{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"the session has ended"}}`)
	if err := <-f.served; err != nil {
		t.Errorf("Serve: %v", err)
	}
}

// holding is a session that never answers.
type holding struct {
	stream *session.Stream
	calls  chan struct{}
}

func (h *holding) asked() <-chan struct{} {
	return h.calls
}

func (h *holding) Do(context.Context, session.Call) (protocol.RequestID, error) {
	h.calls <- struct{}{}
	return 1, nil
}
func (h *holding) Events() <-chan session.Event { return h.stream.Events() }
func (h *holding) Close(ctx context.Context) error {
	h.stream.End(ctx)
	return nil
}

func TestWait(t *testing.T) {
	for in, want := range map[string]string{`"2s"`: "2s", `"500ms"`: "500ms", `1.5`: "1.5s", `0`: "0s", `"none"`: "-1ns"} {
		var w Wait
		if err := json.Unmarshal([]byte(in), &w); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		back, err := json.Marshal(w)
		var again Wait
		if err != nil || json.Unmarshal(back, &again) != nil || again != w {
			t.Errorf("%s became %s, %v", in, back, err)
		}
		if got := (callParams{Wait: w}).call("x").Wait.String(); got != want {
			t.Errorf("%s is %s", in, got)
		}
	}
	for _, in := range []string{`"-2s"`, `-1`, `"2"`, `"soon"`, `null`, `[]`, `1e300`} {
		var w Wait
		if err := w.UnmarshalJSON([]byte(in)); err == nil {
			t.Errorf("%s was taken as %v", in, w)
		}
	}
}

// Long sets are truncated unless the front end asks for complete ones, in one call or in all.
func TestServeWholeSets(t *testing.T) {
	var ids []rank.ID
	for i := range 20_000 {
		ids = append(ids, rank.ID(2*i))
	}
	set := rank.Of(ids...).String()
	event := `{"event":"reply","ranks":"` + set + `","n":20000,"result":{}}`
	script := ""
	for range 3 {
		script += "> continue\n" + event + "\n" + `{"event":"done","asked":8,"answered":8,"ms":1}` + "\n"
	}
	for name, c := range map[string]struct {
		setup string
		calls map[string]bool // params: whether the set is complete
	}{
		"in one call": {`{}`, map[string]bool{`{}`: false, `{"whole_sets":true,"stream":true}`: true}},
		"in all":      {`{"whole_sets":true}`, map[string]bool{`{}`: true}},
	} {
		t.Run(name, func(t *testing.T) {
			tp := tape(t, script)
			defer tp.Close(context.Background())
			f := serve(t, opened(tp))
			f.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + c.setup + `}`)
			f.receive(starting, `{"jsonrpc":"2.0","id":0,"result":{"version":1,"build":"test","servers":2,"ranks":"0-7"}}`)
			for params, whole := range c.calls {
				f.send(`{"jsonrpc":"2.0","id":1,"method":"continue","params":` + params + `}`)
				f.receiveSet(whole, set)
			}
			if err := f.hangUp(); !errors.Is(err, ErrGone) {
				t.Error(err)
			}
		})
	}
}

// receiveSet receives the event of a call, before or after its result.
func (f *frontEnd) receiveSet(whole bool, set string) {
	f.t.Helper()
	for heard := ""; !strings.Contains(heard, `"reply"`) || !strings.Contains(heard, `"done"`); {
		body, err := f.conn.read()
		if err != nil {
			f.t.Fatal(err)
		}
		heard += string(body)
		if strings.Contains(heard, `"reply"`) && strings.Contains(heard, set) != whole {
			f.t.Errorf("%d bytes, whole sets: %v", len(heard), whole)
		}
	}
}
