// A client of sdm dap.

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// editor is a client of the Debug Adapter Protocol, written without packages of sdm.
type editor struct {
	t       *testing.T
	adapter *exec.Cmd
	in      io.WriteCloser
	got     chan dapMessage
	seq     int
	events  []dapMessage
}

// dapMessage is a response, an event or a request of the adapter.
type dapMessage struct {
	Type, Event, Command, Message string
	Seq                           int
	RequestSeq                    int `json:"request_seq"`
	Success                       bool
	Body, Arguments               json.RawMessage
}

// edit starts an adapter.
func (s *scene) edit() *editor {
	s.t.Helper()
	e := &editor{t: s.t, adapter: exec.Command(program("sdm"), "dap"), got: make(chan dapMessage, 100)}
	e.adapter.Env, e.adapter.Dir = s.env, s.dir
	in, err := e.adapter.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := e.adapter.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := e.adapter.Start(); err != nil {
		s.t.Fatal(err)
	}
	e.in = in
	s.readers.Go(func() {
		e.read(bufio.NewReader(out))
		e.adapter.Wait()
	})
	s.t.Cleanup(func() { e.adapter.Process.Kill() })
	return e
}

func (e *editor) read(r *bufio.Reader) {
	defer close(e.got)
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(n)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m dapMessage
		if json.Unmarshal(body, &m) == nil {
			e.got <- m
		}
	}
}

// next returns the next message.
func (e *editor) next(what string) dapMessage {
	e.t.Helper()
	select {
	case m, ok := <-e.got:
		if !ok {
			e.t.Fatalf("the adapter has ended before %s", what)
		}
		if m.Type == "request" { // what is asked for is done, and kept as an event of its name
			e.write(fmt.Sprintf(`"type":"response","request_seq":%d,"success":true,"command":%q`, m.Seq, m.Command))
			m.Event, m.Body = m.Command, m.Arguments
		}
		return m
	case <-time.After(patience):
		e.t.Fatalf("no %s", what)
	}
	panic("not reached")
}

// ask sends a request and reads the body of its response into an answer.
func (e *editor) ask(command, arguments string, answer any) {
	e.t.Helper()
	if m := e.send(command, arguments); !m.Success {
		e.t.Fatalf("%s %s: %s", command, arguments, m.Message)
	} else if answer != nil {
		if err := json.Unmarshal(m.Body, answer); err != nil {
			e.t.Fatalf("%s: %s: %v", command, m.Body, err)
		}
	}
}

// send sends a request and returns its response.
func (e *editor) send(command, arguments string) dapMessage {
	e.t.Helper()
	seq := e.write(fmt.Sprintf(`"type":"request","command":%q,"arguments":%s`, command, arguments))
	for {
		m := e.next("answer to " + command)
		if m.Type == "response" && m.RequestSeq == seq {
			return m
		}
		e.events = append(e.events, m)
	}
}

// write sends a message with a new number, which it returns.
func (e *editor) write(rest string) int {
	e.t.Helper()
	e.seq++
	body := fmt.Sprintf(`{"seq":%d,%s}`, e.seq, rest)
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
	return e.seq
}

// await returns the next event of a name; text is a part of its body.
func (e *editor) await(name, text string) string {
	e.t.Helper()
	for {
		for i, m := range e.events {
			if m.Event == name && strings.Contains(string(m.Body), text) {
				e.events = e.events[i+1:]
				return string(m.Body)
			}
		}
		e.events = []dapMessage{e.next(name + " " + text)}
	}
}

// stopped waits for a stop for a reason and returns its thread.
func (e *editor) stopped(reason string) int {
	e.t.Helper()
	body := e.await("stopped", "")
	var b struct {
		Reason   string
		ThreadID int
	}
	if err := json.Unmarshal([]byte(body), &b); err != nil || b.Reason != reason {
		e.t.Fatalf("stopped for another reason than %s: %s", reason, body)
	}
	return b.ThreadID
}

// frames returns the stack of a thread.
func (e *editor) frames(thread int) []dapFrame {
	e.t.Helper()
	var stack struct{ StackFrames []dapFrame }
	e.ask("stackTrace", fmt.Sprintf(`{"threadId":%d,"startFrame":0,"levels":20}`, thread), &stack)
	return stack.StackFrames
}

type dapFrame struct {
	ID   int
	Name string
	Line int
}

// target returns the number of a line as a target of goTo.
func (e *editor) target(source string, line int) int {
	e.t.Helper()
	var body struct{ Targets []struct{ ID int } }
	e.ask("gotoTargets", fmt.Sprintf(`{"source":{"path":%q},"line":%d}`, source, line), &body)
	return body.Targets[0].ID
}

// goTo lets a thread go on at a target.
func (e *editor) goTo(thread, target int) dapMessage {
	e.t.Helper()
	return e.send("goto", fmt.Sprintf(`{"threadId":%d,"targetId":%d}`, thread, target))
}

// threads returns the names of the threads by their numbers.
func (e *editor) threads() map[int]string {
	e.t.Helper()
	var body struct {
		Threads []struct {
			ID   int
			Name string
		}
	}
	e.ask("threads", `{}`, &body)
	names := map[int]string{}
	for _, t := range body.Threads {
		names[t.ID] = t.Name
	}
	return names
}

// value evaluates an expression as a hover does.
func (e *editor) value(frame int, expr string) string {
	e.t.Helper()
	var v struct{ Result string }
	e.ask("evaluate", fmt.Sprintf(`{"context":"hover","frameId":%d,"expression":%q}`, frame, expr), &v)
	return v.Result
}
