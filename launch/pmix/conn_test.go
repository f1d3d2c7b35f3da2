package pmix

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// twin is the other end of a Conn: sdm-pmix, played by a test.
type twin struct {
	t     *testing.T
	conn  net.Conn
	lines *Lines
}

// pair returns a Conn and its other end. Events go to a channel of 8.
func pair(t *testing.T) (*Conn, *twin, chan Message) {
	a, b := net.Pipe()
	events := make(chan Message, 8)
	c := NewConn(a, a, func(m Message) { events <- m })
	t.Cleanup(func() { b.Close(); a.Close(); <-c.Done() })
	return c, &twin{t, b, NewLines(b)}, events
}

func (w *twin) reads() Request {
	w.t.Helper()
	line, err := w.lines.Next()
	if err != nil {
		w.t.Error(err)
		return Request{}
	}
	r, err := ParseRequest(line)
	if err != nil {
		w.t.Error(err)
	}
	return r
}

func (w *twin) says(text string) {
	w.t.Helper()
	if _, err := w.conn.Write([]byte(text + "\n")); err != nil {
		w.t.Error(err)
	}
}

func TestCallsOutOfOrder(t *testing.T) {
	c, w, events := pair(t)
	results := make(chan string, 2)
	call := func(key Key) {
		m, err := c.Call(context.Background(), Request{Call: CallQuery, Key: key})
		if err != nil {
			t.Error(err)
		}
		v, _ := Find(m.Info, key)
		results <- string(key) + "=" + v.Text
	}
	go call("a")
	first := w.reads()
	go call("b")
	second := w.reads()
	if first.ID == second.ID {
		t.Error("two requests have one number")
	}
	w.says(`{"event":-58,"source":{"nspace":"s","rank":0}}`)
	w.says(`{"id":2,"info":[{"key":"b","type":"string","text":"2"}]}`)
	if got := <-results; got != "b=2" {
		t.Error(got)
	}
	w.says(`{"id":1,"info":[{"key":"a","type":"string","text":"1"}]}`)
	if got := <-results; got != "a=1" {
		t.Error(got)
	}
	if e := <-events; e.Event != ReadyForDebug {
		t.Error(e)
	}
}

func TestFailure(t *testing.T) {
	c, w, _ := pair(t)
	go func() {
		w.reads()
		w.says(`{"id":1,"status":-179,"text":"JOB FAILED TO MAP"}`)
	}()
	_, err := c.Call(context.Background(), Request{Call: CallSpawn, Apps: []App{{Argv: []string{"a"}, Procs: 1}}})
	var f *Failure
	if !errors.As(err, &f) || f.Code != FailedToMap || err.Error() != "PMIx spawn: JOB FAILED TO MAP (-179)" {
		t.Error(err)
	}
}

// TestSilence checks the limit of a call, the end of its context, and that a late answer is
// dropped.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c := NewConn(a, a, func(Message) {})
		w := &twin{t, b, NewLines(b)}
		go func() { // reads two requests and no more
			w.reads()
			w.reads()
		}()
		began := time.Now()
		_, err := c.Call(context.Background(), Request{Call: CallQuery, Key: "k"})
		var s *Silent
		if !errors.As(err, &s) || time.Since(began) != limits[CallQuery] {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		w.says(`{"id":1}`)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := c.Call(ctx, Request{Call: CallQuery, Key: "k"}); !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &s) {
			t.Error(err)
		}
		if _, err := c.Call(ctx, Request{Call: CallQuery, Key: "k"}); err == nil {
			t.Error("a request that is not read has no error")
		}
		b.Close()
		<-c.Done()
	})
}

func TestEndOfMessages(t *testing.T) {
	c, w, _ := pair(t)
	go func() {
		w.reads()
		w.conn.Close()
	}()
	if _, err := c.Call(context.Background(), Request{Call: CallFinalize}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	if _, err := c.Call(context.Background(), Request{Call: CallFinalize}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

func TestBrokenProtocol(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "hello", "not asked": `{"id":7}`, "two hellos": `{"hello":1}` + "\n" + `{"hello":1}`,
	} {
		c, w, _ := pair(t)
		go w.says(text)
		<-c.Done()
		if _, err := c.Hello(context.Background()); name != "two hellos" && (err == nil || !strings.Contains(err.Error(), "does not keep to its protocol")) {
			t.Errorf("%s: %v", name, err)
		}
		if c.err == errClosed {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}

func TestHello(t *testing.T) {
	c, w, _ := pair(t)
	go w.says(`{"hello":2}`)
	if _, err := c.Hello(context.Background()); err == nil || !strings.Contains(err.Error(), "revision 2") {
		t.Error(err)
	}
	c, w, _ = pair(t)
	go w.says(`{"hello":1,"library":"4.2.2"}`)
	if m, err := c.Hello(context.Background()); err != nil || m.Library != "4.2.2" {
		t.Error(m, err)
	}
}

// TestLossEndsCalls loses the server while it is asked. An answer that comes soon counts, and the end
// of sdm-pmix has all of its time.
func TestLossEndsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		c := NewConn(a, a, func(Message) {})
		w := &twin{t, b, NewLines(b)}
		go func() {
			w.reads()
			w.says(`{"event":-61}`)
			w.says(`{"event":-61}`)
			w.reads()
			w.says(`{"id":2,"status":-25,"text":"UNREACH"}`)
			w.reads()
			<-time.After(2 * time.Second)
			w.says(`{"id":3}`)
		}()
		began := time.Now()
		if _, err := c.Call(context.Background(), Request{Call: CallQuery, Key: "k"}); !errors.Is(err, errLost) || time.Since(began) != lateAnswer {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		var f *Failure
		if _, err := c.Call(context.Background(), Request{Call: CallQuery, Key: "k"}); !errors.As(err, &f) || f.Code != ErrUnreach {
			t.Error(err)
		}
		if _, err := c.Call(context.Background(), Request{Call: CallFinalize}); err != nil {
			t.Error(err)
		}
		b.Close()
		<-c.Done()
	})
}

// TestRequestsThatAreNotRead checks that a call ends in time if sdm-pmix does not read.
func TestRequestsThatAreNotRead(t *testing.T) {
	c, _, _ := pair(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := c.Call(ctx, Request{Call: CallFinalize})
	if silent := new(Silent); !errors.As(err, &silent) {
		t.Errorf("%v", err)
	}
}
