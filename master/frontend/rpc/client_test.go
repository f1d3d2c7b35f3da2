package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// pair returns a client and the result of a master that serves a session to it, over loopback.
func pair(t *testing.T, open Open) (*Client, <-chan error) {
	t.Helper()
	o := Options{Secret: secretOf("a")}
	conn, client, err, frontErr := meet(t, o, o)
	if err != nil || frontErr != nil {
		t.Fatalf("master: %v, front end: %v", err, frontErr)
	}
	served := make(chan error, 1)
	go func() { served <- Serve(context.Background(), conn, open, o) }()
	return client, served
}

// quitting is a tape that ends with the command quit, as a master does.
type quitting struct{ *sessiontest.Tape }

func (q quitting) Do(ctx context.Context, c session.Call) (protocol.RequestID, error) {
	id, err := q.Tape.Do(ctx, c)
	if c.Command == "quit" {
		go q.Tape.Close(context.Background())
	}
	return id, err
}

func TestClientIsASession(t *testing.T) {
	tp := quitting{tape(t, `
> print
{"event":"reply","ranks":"0-7","n":8,"result":{"expr":"n"}}
> prnit
! unknown command "prnit"
> quit
{"event":"signalled","ranks":"0-7","n":8,"signal":"SIGKILL"}
`)}
	client, served := pair(t, opened(tp))
	ctx := context.Background()
	report, err := client.Initialize(ctx, Setup{Servers: 2, Wait: -1})
	if err != nil || report.Servers != 2 || report.Ranks.String() != "0-7" {
		t.Fatalf("report %+v, error %v", report, err)
	}
	frame := 0
	id, err := client.Do(ctx, session.Call{Command: "print", Ranks: "0-3", Wait: -1, Args: protocol.Args{Expr: "n", Frame: &frame, Data: []byte{0xff}}})
	if id != 1 || err != nil {
		t.Errorf("print: number %d, error %v", id, err)
	}
	_, err = client.Do(ctx, session.Call{Command: "prnit"})
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Kind != protocol.FaultUsage || fault.Message != `unknown command "prnit"` {
		t.Errorf("prnit: %#v", err)
	}
	if err := client.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	var got []string
	for e := range client.Events() {
		got = append(got, string(e.AppendJSON(nil)))
	}
	want := `{"event":"job","ranks":"","n":0,"state":"starting"}
{"event":"reply","id":1,"command":"print","ranks":"0-7","n":8,"result":{"expr":"n"}}
{"event":"done","id":1,"command":"print","asked":8,"answered":8,"ms":0}
{"event":"signalled","ranks":"0-7","n":8,"signal":"SIGKILL"}`
	if strings.Join(got, "\n") != want {
		t.Errorf("events:\n%s", strings.Join(got, "\n"))
	}
	if err := client.Err(); err != nil {
		t.Errorf("ended with %v", err)
	}
	calls := tp.Calls()
	if c := calls[0]; c.Ranks != "0-3" || c.Wait != -1 || *c.Args.Frame != 0 || string(c.Args.Data) != "\xff" {
		t.Errorf("call: %+v", c)
	}
}

func TestClientInitializeNotReady(t *testing.T) {
	report := session.Report{Servers: 2, Absent: []session.Absent{{Servers: rank.Of(1), Cause: "no answer in 30s"}}}
	client, served := pair(t, func(context.Context, Setup, func(string)) (session.Session, session.Report, error) {
		return nil, report, report.Err()
	})
	_, err := client.Initialize(context.Background(), Setup{})
	var absent *session.NotReady
	if !errors.As(err, &absent) || err.Error() != report.Err().Error() {
		t.Errorf("error %v", err)
	}
	if err := client.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestClientWhoseMasterVanishes(t *testing.T) {
	o := Options{Secret: secretOf("a")}
	conn, client, err, frontErr := meet(t, o, o)
	if err != nil || frontErr != nil {
		t.Fatal(err, frontErr)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := client.Do(context.Background(), session.Call{Command: "print"})
		asked <- err
	}()
	if _, err := conn.read(); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if err := <-asked; err == nil || !strings.Contains(err.Error(), "master at 127.0.0.1:") {
		t.Errorf("Do: %v", err)
	}
	if _, open := <-client.Events(); open {
		t.Error("the events have not ended")
	}
	if client.Err() == nil {
		t.Error("no reason is given")
	}
	if err := client.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestClientCloseIsBoundByItsContext(t *testing.T) {
	o := Options{Secret: secretOf("a")}
	conn, client, err, frontErr := meet(t, o, o)
	if err != nil || frontErr != nil {
		t.Fatal(err, frontErr)
	}
	defer conn.Close() // it never reads
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := client.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A master that gives no sign of life does not delay Close, and one that does may take its time.
func TestClientCloseOfASilentMaster(t *testing.T) {
	for _, answers := range []int{0, 30} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			client, master := newClient(newConn(near, "n1", maxAnswer), Options{}), newConn(far, "n0", maxRequest)
			go func() {
				defer far.Close()
				for n := 0; ; n++ {
					body, err := master.read()
					if err != nil || answers > 0 && n == answers {
						return
					}
					if m, bad := decode(body); bad == nil && m.Method == "hello" && answers > 0 {
						master.write(respond(m.ID, []byte("{}")))
					}
				}
			}()
			began := time.Now()
			err := client.Close(context.Background())
			took := time.Since(began)
			switch {
			case answers > 0 && (err != nil || took < 10*time.Second):
				t.Errorf("%v after %v", err, took)
			case answers == 0 && (err == nil || !strings.Contains(err.Error(), "the master at n1 is silent for 3s") || took > 4*time.Second):
				t.Errorf("%v after %v", err, took)
			}
		})
	}
}

// A front end that makes calls and reads events in one goroutine, as simple ones do, must not block
// itself, however many events come first.
func TestClientOfOneGoroutine(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, `{"event":"output","ranks":"0","n":1,"stream":"stdout","text":"line %d\n"}`+"\n", i)
	}
	client, served := pair(t, opened(quitting{tape(t, text.String()+"> print\n> quit\n")}))
	ctx := context.Background()
	if _, err := client.Initialize(ctx, Setup{}); err != nil {
		t.Fatal(err)
	}
	id, err := client.Do(ctx, session.Call{Command: "print", Args: protocol.Args{Expr: "n"}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e := range client.Events() {
		if e.Done != nil && e.ID == id {
			break
		}
		n++
	}
	if n != 5001 { // with the one at the start
		t.Errorf("%d events came before done", n)
	}
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
}
