package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ide is a front end that implements JSON-RPC according to docs/protocol.md, without using packages
// of sdm.
type ide struct {
	t        *testing.T
	listener net.Listener
	conn     net.Conn
	in       *bufio.Reader
	last     int
	events   []event
}

// message is a JSON-RPC message of the master.
type message struct {
	ID     int
	Method string
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	Params json.RawMessage
}

// ide listens for a master at a Unix socket, which needs no authentication. addr is the address for
// the master.
func (s *scene) ide() (i *ide, addr string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "ide")
	return s.ideAt("unix", path), "unix:" + path
}

func (s *scene) ideAt(network, addr string) *ide {
	s.t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	return &ide{t: s.t, listener: l}
}

// accept waits for the master.
func (i *ide) accept() {
	i.t.Helper()
	i.listener.(interface{ SetDeadline(time.Time) error }).SetDeadline(time.Now().Add(patience))
	conn, err := i.listener.Accept()
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(2 * patience))
	i.conn, i.in = conn, bufio.NewReader(conn)
}

// call makes a call and returns its answer. Events that precede the answer are kept.
func (i *ide) call(method string, params any) message {
	i.t.Helper()
	i.last++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": i.last, "method": method, "params": params})
	if err == nil {
		_, err = fmt.Fprintf(i.conn, "Content-Length: %d\r\n\r\n%s", len(text), text)
	}
	if err != nil {
		i.t.Fatalf("%s: %v", method, err)
	}
	for {
		if m := i.receive(); m.ID == i.last {
			return m
		}
	}
}

// good makes a call that must not fail, and returns its result.
func (i *ide) good(method string, params any) string {
	i.t.Helper()
	m := i.call(method, params)
	if m.Error != nil {
		i.t.Fatalf("%s: %+v", method, m.Error)
	}
	return string(m.Result)
}

// receive reads one message.
func (i *ide) receive() message {
	i.t.Helper()
	length := 0
	for {
		line, err := i.in.ReadString('\n')
		if err != nil {
			i.t.Fatalf("the master is gone: %v", err)
		}
		if line == "\r\n" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	text := make([]byte, length)
	var m message
	_, err := io.ReadFull(i.in, text)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		i.t.Fatalf("no message: %v: %s", err, text)
	}
	if m.Method == "event" {
		i.keep(m.Params)
	}
	return m
}

func (i *ide) keep(params json.RawMessage) {
	i.t.Helper()
	e := event{text: string(params)}
	if err := json.Unmarshal(params, &e); err != nil {
		i.t.Fatalf("no event: %v: %s", err, params)
	}
	i.events = append(i.events, e)
}

// until reads until n ranks have had an event of the name, counted from event number since.
func (i *ide) until(name string, n, since int) {
	i.t.Helper()
	for {
		have := 0
		for _, e := range i.events[since:] {
			if e.Event == name {
				have += e.N
			}
		}
		if have >= n {
			return
		}
		i.receive()
	}
}

// TestMPIByTable has a front end that passes the table of servers, first one with servers that do
// not exist.
func TestMPIByTable(t *testing.T) {
	t.Parallel()
	for _, m := range starters {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			i, addr := s.ide()
			master := s.start("sdm-master", "--connect", addr)
			i.accept()
			base := s.freePort()
			var routes []map[string]any
			for server := range 4 {
				routes = append(routes, map[string]any{"server": server, "host": "here", "addrs": []string{fmt.Sprintf("127.0.0.1:%d", base)}, "ports": 1000})
			}
			table := map[string]any{"table": map[string]any{"routes": routes}, "wait": "500ms"}
			no := i.call("initialize", table)
			if no.Error == nil || no.Error.Code != -32001 || !strings.Contains(no.Error.Message, "4 of 4 servers are not ready") {
				t.Fatalf("initialize without servers: %+v %s", no.Error, no.Result)
			}
			starter := s.mpirun(m, 4, "sdm-server", "--port", fmt.Sprint(base), "--", m.program("ring"))
			table["wait"] = "20s"
			if got := i.good("initialize", table); !strings.Contains(got, `"servers":4,"ranks":"0-3"`) {
				t.Errorf("initialize: %s", got)
			}
			i.drive()
			master.exits(0)
			starter.exits(0)
		})
	}
}

// drive runs the ranks from main to their end.
func (i *ide) drive() {
	i.t.Helper()
	i.good("launch", map[string]any{"job": map[string]any{"program": "-"}})
	i.until("stopped", 4, 0)
	i.good("break", map[string]any{"location": "sum"})
	since := len(i.events)
	i.good("continue", map[string]any{})
	i.until("stopped", 4, since)
	if got := i.good("print", map[string]any{"expr": "rank", "ranks": "@stopped,!0"}); !strings.Contains(got, `"values":[{"value":"1","ranks":"1"},{"value":"2","ranks":"2"},{"value":"3","ranks":"3"}]`) {
		i.t.Errorf("print: %s", got)
	}
	i.good("delete", map[string]any{})
	i.good("continue", map[string]any{})
	i.until("exited", 4, since)
	i.good("quit", map[string]any{})
}
