package rpc

import (
	"context"
	"testing"

	"sdm/master/session"
	"sdm/protocol"
)

// cancelling is a session that answers nothing but a cancel, which ends the call that it names.
type cancelling struct {
	stream *session.Stream
	last   protocol.RequestID
}

func (c *cancelling) Do(_ context.Context, call session.Call) (protocol.RequestID, error) {
	c.last++
	done := func(id protocol.RequestID, command string, cancelled bool) session.Event {
		return session.Event{Name: session.DoneName, ID: id, Command: command, Done: &session.Done{Cancelled: cancelled}}
	}
	if call.Command == "cancel" {
		c.stream.Push(done(call.Args.Of, "print", true), done(c.last, "cancel", false))
	}
	return c.last, nil
}

func (c *cancelling) Events() <-chan session.Event { return c.stream.Events() }

func (c *cancelling) Close(ctx context.Context) error {
	c.stream.End(ctx)
	return nil
}

// A call without stream, whose number the front end does not know, is cancelled by its id; one that was answered
// already remains so.
func TestCancelByTheIDOfTheCall(t *testing.T) {
	c := &cancelling{stream: session.NewStream()}
	defer c.Close(t.Context())
	f := serve(t, opened(c))
	f.initialize()
	f.send(`{"jsonrpc":"2.0","id":"p","method":"print","params":{"expr":"slow()"}}`)
	f.send(`{"jsonrpc":"2.0","id":9,"method":"cancel","params":{"call":"p"}}`)
	f.receive(
		`{"jsonrpc":"2.0","id":"p","result":{"id":1,"answers":[],"done":{"event":"done","id":1,"command":"print","asked":0,"answered":0,"cancelled":true,"ms":0}}}`,
		`{"jsonrpc":"2.0","id":9,"result":{"id":2,"answers":[],"done":{"event":"done","id":2,"command":"cancel","asked":0,"answered":0,"ms":0}}}`)
	f.send(`{"jsonrpc":"2.0","id":10,"method":"cancel","params":{"call":"p"}}`)
	f.receive(`{"jsonrpc":"2.0","id":10,"result":{}}`)
	f.hangUp()
	go func() { // the stream ends when it is read
		for range c.Events() {
		}
	}()
}
