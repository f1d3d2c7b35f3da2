// JSON-RPC messages.

package rpc

import (
	"encoding/json"
	"errors"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// message is a JSON-RPC 2.0 request, notification or response (JSON-RPC 2.0 Specification, sections
// 4 and 5).
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *callError      `json:"error,omitempty"`
}

// callError is the error of a response. Data is a protocol.Fault, or for codeNotReady a
// session.Report.
type callError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Codes of errors: those of the specification, and those of this server from -32000 downwards.
const (
	codeParse         = -32700
	codeInvalid       = -32600
	codeUnknownMethod = -32601
	codeParams        = -32602
	codeInternal      = -32603 // a defect of sdm
	codeRefused       = -32000 // the other side is not authenticated, or has another version
	codeNotReady      = -32001 // the tree could not be built
	codeEnded         = -32002 // the session has ended
)

func (e *callError) Error() string { return e.Message }

func failure(code int, text string) *callError { return &callError{Code: code, Message: text} }

// failureOf makes the error of a response from an error of the session.
func failureOf(code int, err error) *callError {
	e := failure(code, err.Error())
	var fault *protocol.Fault
	if errors.As(err, &fault) {
		e.Data = canonical.JSON(fault)
	}
	return e
}

// fault returns the fault in the error's data, or else the error itself.
func (e *callError) fault() error {
	var f protocol.Fault
	if e.Data != nil && json.Unmarshal(e.Data, &f) == nil && f.Message != "" {
		return &f
	}
	return e
}

func encode(m message) []byte {
	m.Version = "2.0"
	return canonical.JSON(m)
}

func respond(id json.RawMessage, result []byte) []byte {
	return encode(message{ID: id, Result: result})
}

func refuse(id json.RawMessage, e *callError) []byte {
	if id == nil {
		id = json.RawMessage("null") // section 5: if the ID of the request could not be read
	}
	return encode(message{ID: id, Error: e})
}

// notify makes the notification of an event.
func notify(event []byte) []byte { return encode(message{Method: "event", Params: event}) }

// decode reads a message; the error is to be sent to the other side.
func decode(body []byte) (message, *callError) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		if json.Valid(body) {
			return m, failure(codeInvalid, "not a JSON-RPC 2.0 request: "+err.Error())
		}
		return m, failure(codeParse, "not JSON: "+err.Error())
	}
	if m.Version != "2.0" {
		return m, failure(codeInvalid, `not a JSON-RPC 2.0 request: "jsonrpc" must be "2.0"`)
	}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	return m, nil
}
