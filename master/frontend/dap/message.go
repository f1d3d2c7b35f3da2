// Messages: what they have in common, read and written.

package dap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	godap "github.com/google/go-dap"
)

// eventMessage is an event as it is sent.
type eventMessage struct {
	Seq   int    `json:"seq"`
	Type  string `json:"type"` // "event"
	Event string `json:"event"`
	Body  any    `json:"body,omitempty"`
}

// responseMessage is a response as it is sent.
type responseMessage struct {
	Seq        int    `json:"seq"`
	Type       string `json:"type"` // "response"
	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Command    string `json:"command"`
	Message    string `json:"message,omitempty"`
	Body       any    `json:"body,omitempty"`
}

// encode returns a message as JSON.
func encode(message any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		panic(fmt.Sprintf("dap: %T cannot be JSON: %v", message, err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// request is a request of the client, which is answered exactly once.
type request struct {
	a         *adapter
	seq       int
	command   string
	arguments json.RawMessage
	answered  bool
}

// message is what the client sends. Errors of its JSON name the type.
type message struct {
	Seq       int             `json:"seq"`
	Type      string          `json:"type"`
	Command   string          `json:"command"`
	Arguments json.RawMessage `json:"arguments"`

	RequestSeq int    `json:"request_seq"`
	Success    bool   `json:"success"`
	Message    string `json:"message"`
}

// readRequest reads a message. It returns nil without an error for a response. With an error the request may be nil:
// there is nothing to answer to.
func readRequest(a *adapter, body []byte) (*request, error) {
	var m message
	err := json.Unmarshal(body, &m)
	r := &request{a: a, seq: m.Seq, command: m.Command, arguments: m.Arguments}
	switch {
	case err != nil:
		return r, fmt.Errorf("a message that is not one of DAP: %w", err)
	case m.Type == "response":
		a.replied(m.RequestSeq, m.Success, m.Message)
		return nil, nil
	case m.Type != "request":
		return r, fmt.Errorf("a message of type %q: sdm takes requests", clip(m.Type))
	case m.Command == "":
		return r, errors.New("a request without a command")
	case a.open[m.Seq] != nil:
		return r, fmt.Errorf("%s: request %d is not answered yet: its seq is in use", clip(m.Command), m.Seq)
	}
	return r, nil
}

// read reads the arguments of a request. Some clients write no arguments as [].
func (r *request) read(into any) error {
	text := bytes.TrimSpace(r.arguments)
	if len(text) == 0 || bytes.Equal(text, []byte("[]")) || bytes.Equal(text, []byte("null")) {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: arguments: %w", r.command, err)
	}
	return nil
}

// answer answers a request; body may be nil.
func (r *request) answer(body any) { r.respond(responseMessage{Success: true, Body: body}) }

// fail answers a request with an error.
func (r *request) fail(err error) {
	r.respond(responseMessage{Message: err.Error(), Body: godap.ErrorResponseBody{
		Error: &godap.ErrorMessage{Id: failed, Format: "{why}", Variables: map[string]string{"why": err.Error()}, ShowUser: true},
	}})
}

// failed is the number of all errors: their text tells them apart.
const failed = 1

func (r *request) respond(m responseMessage) {
	if r.answered {
		return
	}
	r.answered = true
	delete(r.a.open, r.seq)
	r.a.seq++
	m.Seq, m.Type, m.RequestSeq, m.Command = r.a.seq, "response", r.seq, r.command
	r.a.send(m)
}

// handler carries out a request; its error is the answer.
type handler func(a *adapter, now time.Time, r *request) error
