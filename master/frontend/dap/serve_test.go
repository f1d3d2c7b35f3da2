// The loop of an adapter, over connections.

package dap

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"sdm/master/session"
	"sdm/master/session/sessiontest"
	"sdm/protocol/envelope"
	"sdm/protocol/rank"
)

// client is the other end of a served connection.
type client struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
	tape *sessiontest.Tape
	over chan error
	seq  int
}

// newClient serves a taped session of two ranks.
func newClient(t *testing.T, tape string, console func(context.Context, Typed) error) *client {
	s, err := sessiontest.ReadTape(tape)
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	c := &client{t: t, conn: near, r: bufio.NewReaderSize(near, envelope.MaxHeader), tape: s, over: make(chan error, 1)}
	cfg := Config{Console: console, Start: func(context.Context, Start) (*Target, error) {
		return &Target{Session: s, Ranks: rank.Range(0, 1), First: &session.Call{Command: "launch"}}, nil
	}}
	go func() { c.over <- Serve(t.Context(), far, cfg) }()
	t.Cleanup(func() { near.Close() })
	return c
}

// send sends a request.
func (c *client) send(command, arguments string) {
	c.seq++
	body := fmt.Sprintf(`{"seq":%d,"type":"request","command":%q,"arguments":%s}`, c.seq, command, arguments)
	if _, err := c.conn.Write(envelope.Append(nil, []byte(body))); err != nil {
		c.t.Fatal(err)
	}
}

// until reads messages up to one that contains a text, and returns it.
func (c *client) until(text string) string {
	c.t.Helper()
	for {
		body, err := envelope.Read(c.r, 1<<20)
		if err != nil {
			c.t.Fatalf("no %s: %v", text, err)
		}
		checkSchema(c.t, body)
		if strings.Contains(string(body), text) {
			return string(body)
		}
	}
}

// ends returns how Serve has ended.
func (c *client) ends() error {
	go io.Copy(io.Discard, c.conn) // ends with the connection
	return <-c.over
}

const twoRanks = `
> launch
{"event":"reply","ranks":"0-1","result":{}}
{"event":"stopped","ranks":"0-1","reason":"breakpoint-hit","frame":{"func":"main","file":"work.c","line":12}}
`

func (c *client) begin() {
	c.send("initialize", `{"adapterID":"sdm"}`)
	c.until(`"command":"initialize"`)
	c.send("launch", `{"program":"work","stopOnEntry":true}`)
	c.until(`"initialized"`)
	c.send("configurationDone", `{}`)
	c.until(`"stopped"`)
}

func TestServeUntilDisconnect(t *testing.T) {
	c := newClient(t, twoRanks, nil)
	c.begin()
	c.send("disconnect", `{}`)
	c.until(`"command":"disconnect"`)
	if err := c.ends(); err != nil {
		t.Error(err)
	}
}

func TestServeClientIsGone(t *testing.T) {
	c := newClient(t, twoRanks, nil)
	c.begin()
	c.conn.Close()
	if err := <-c.over; !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

func TestServeClientIsGoneBeforeLaunch(t *testing.T) {
	c := newClient(t, twoRanks, nil)
	c.conn.Close()
	if err := <-c.over; !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	c.tape.Close(t.Context())
}

func TestServeTellsWhatIsWrongWithAFrame(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"no length":  {"Content-Type: x\r\n\r\n", "a message without Content-Length"},
		"a long one": {"Content-Length: 99999999\r\n\r\n", "a message of 99999999 bytes is too long"},
		"not DAP":    {"GET / HTTP/1.1\r\n\r\n", "a message without Content-Length"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, twoRanks, nil)
			c.begin()
			if _, err := io.WriteString(c.conn, tt.in); err != nil {
				t.Fatal(err)
			}
			c.until(tt.want)
			if err := c.ends(); err == nil || errors.Is(err, ErrGone) {
				t.Error(err)
			}
		})
	}
}

func TestServeEndsWithItsSession(t *testing.T) {
	c := newClient(t, twoRanks, nil)
	c.begin()
	c.tape.Close(t.Context())
	c.until(`"terminated"`)
	c.send("threads", `{}`)
	c.until("the session was ended or left")
	c.send("disconnect", `{}`)
	c.until(`"command":"disconnect"`)
	if err := c.ends(); err != nil {
		t.Error(err)
	}
}

// The debug console answers lines in order, and what it asks is seen.
func TestServeDebugConsole(t *testing.T) {
	console := func(_ context.Context, typed Typed) error {
		prompt := "(sdm 0-1) "
		for {
			line, err := typed.Lines.ReadLine(prompt)
			if err != nil {
				return nil
			}
			prompt = "(sdm 0-1) "
			switch line {
			case "quit":
				prompt = "Quit anyway? (y or n) "
			case "y":
				return nil
			default:
				fmt.Fprintf(typed.Out, "said %s\n", line)
			}
		}
	}
	c := newClient(t, twoRanks, console)
	c.begin()
	c.send("evaluate", `{"context":"repl","expression":"a"}`)
	c.send("evaluate", `{"context":"repl","expression":"b"}`)
	c.until("said a")
	c.until("said b")
	c.send("evaluate", `{"context":"repl","expression":"quit"}`)
	c.until("Quit anyway? (y or n)")
	c.send("evaluate", `{"context":"repl","expression":"y"}`)
	c.until(`"terminated"`)
	if err := c.ends(); err != nil {
		t.Error(err)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(`{"seq":1,"type":"request","command":"initialize","arguments":{"adapterID":"sdm"}}`)
	f.Add(`{"seq":1,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"a"},"breakpoints":[{"line":1,"logMessage":"{{}"}]}}`)
	f.Add(`{"seq":1,"type":"request","command":"variables","arguments":{"variablesReference":3,"start":-1}}`)
	f.Add(`{"seq":-1,"type":"response"}`)
	f.Add(`{"seq":2,"type":"request","command":"launch","arguments":{"starter":"a 'b"}}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := newScript(t)
		s.request(`initialize {"adapterID":"sdm"}`)
		s.request(`launch {"program":"a"}`)
		s.a.started(&Target{Ranks: rank.Range(0, 1)}, nil)
		s.event(`{"event":"stopped","ranks":"0-1","reason":"breakpoint-hit","frame":{"func":"main","file":"work.c","line":12}}`)
		s.request(`configurationDone`)
		s.out.Reset()
		s.a.receive(s.now, []byte(body))
		var m struct{ Type string }
		if json.Unmarshal([]byte(body), &m) == nil && m.Type == "response" {
			return
		}
		if out := s.out.String(); out == "" || strings.Contains(out, "defect of sdm") {
			t.Fatalf("%s was answered by %q", body, out)
		}
	})
}
