// Requests to sdm-pmix and messages of it as lines of JSON.

package pmix

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// App is one program of a job.
type App struct {
	Argv  []string `json:"argv"`
	Env   []string `json:"env,omitempty"` // NAME=VALUE; the server adds its own environment
	Dir   string   `json:"dir,omitempty"` // "": the server decides
	Procs int      `json:"procs"`
	Info  []Info   `json:"info,omitempty"`
}

// Request is a call of sdm. Calls says which fields a call reads.
type Request struct {
	ID      uint64 `json:"id"` // from 1
	Call    Call   `json:"call"`
	Key     Key    `json:"key,omitempty"`
	Event   Code   `json:"event,omitempty"`
	Proc    *Proc  `json:"proc,omitempty"`
	Targets []Proc `json:"targets,omitempty"`
	Data    []byte `json:"data,omitempty"` // at most MaxPush bytes
	End     bool   `json:"end,omitempty"`  // the stream ends here
	Info    []Info `json:"info,omitempty"`
	Apps    []App  `json:"apps,omitempty"`
}

// MaxPush is the limit of one push in bytes. A push of 16 kB kills PRRTE 3.0.8; four of 8 kB in a
// row do not.
const MaxPush = 4 << 10

// Message is what sdm-pmix says: that it is there (Hello), the reply to request ID, or an event.
type Message struct {
	Hello   int    `json:"hello,omitempty"`   // Revision
	Library string `json:"library,omitempty"` // version of libpmix

	ID     uint64 `json:"id,omitempty"`
	Status Code   `json:"status,omitempty"`
	Proc   *Proc  `json:"proc,omitempty"`

	Event  Code  `json:"event,omitempty"`
	Source *Proc `json:"source,omitempty"`

	Text string `json:"text,omitempty"` // libpmix's name of Status or Event
	Info []Info `json:"info,omitempty"`
}

// check validates a request that is not trusted.
func (r *Request) check() error {
	switch {
	case r.ID == 0:
		return errors.New("a request without a number")
	case !slices.ContainsFunc(Calls, func(s Shape) bool { return s.Call == r.Call }):
		return fmt.Errorf("unknown call %q", r.Call)
	case len(r.Data) > MaxPush:
		return fmt.Errorf("%d bytes to push, %d is the limit", len(r.Data), MaxPush)
	case r.Call == CallSpawn && len(r.Apps) == 0:
		return errors.New("spawn without a program")
	case (r.Call == CallPush || r.Call == CallControl || r.Call == CallKeep) && len(r.Targets) == 0:
		return fmt.Errorf("%s without a target", r.Call)
	case (r.Call == CallGet || r.Call == CallFollow) && r.Proc == nil:
		return fmt.Errorf("%s without a process", r.Call)
	}
	for i := range r.Apps {
		if err := r.Apps[i].check(); err != nil {
			return err
		}
	}
	if err := checkHarmless(r.Info); err != nil && r.Call == CallSpawn {
		return err
	}
	return checkInfos(r.Info, 0)
}

func (a *App) check() error {
	switch {
	case len(a.Argv) == 0 || a.Argv[0] == "":
		return errors.New("a program without a name")
	case a.Procs < 0:
		return fmt.Errorf("%d processes of %s", a.Procs, a.Argv[0])
	}
	if err := checkHarmless(a.Info); err != nil {
		return err
	}
	return checkInfos(a.Info, 0)
}

// check validates a message that is not trusted: it must be either a hello, a reply or an event.
func (m *Message) check() error {
	kinds := 0
	for _, is := range []bool{m.Hello != 0, m.ID != 0, m.Event != 0} {
		if is {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("neither a hello nor a reply nor an event")
	}
	return checkInfos(m.Info, 0)
}

// ParseRequest reads a line. The error says what is wrong.
func ParseRequest(line []byte) (Request, error) {
	var r Request
	if err := parse(line, &r); err != nil {
		return Request{}, err
	}
	return r, r.check()
}

// ParseMessage reads a line. The error says what is wrong.
func ParseMessage(line []byte) (Message, error) {
	var m Message
	if err := parse(line, &m); err != nil {
		return Message{}, err
	}
	return m, m.check()
}

// parse reads one JSON object that has only known fields.
func parse(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one object in a line")
	}
	return nil
}

// AppendLine appends a request or a message as a line.
func AppendLine(b []byte, message any) ([]byte, error) {
	text, err := json.Marshal(message)
	if err == nil && len(text) >= MaxLine {
		err = fmt.Errorf("a message of %d bytes, %d is the limit", len(text), MaxLine)
	}
	if err != nil {
		return b, err
	}
	return append(append(b, text...), '\n'), nil
}

// Lines reads lines of at most MaxLine bytes.
type Lines struct{ scanner *bufio.Scanner }

// NewLines returns the lines of r.
func NewLines(r io.Reader) *Lines {
	s := bufio.NewScanner(r)
	s.Buffer(nil, MaxLine)
	return &Lines{s}
}

// Next returns the next line, which is valid until the next call; io.EOF after the last. An empty
// line is skipped.
func (l *Lines) Next() ([]byte, error) {
	for l.scanner.Scan() {
		if line := l.scanner.Bytes(); len(line) > 0 {
			return line, nil
		}
	}
	if err := l.scanner.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}
