package server

import (
	"context"
	"sync/atomic"

	"sdm/protocol"
	"sdm/tree"
)

// Uplink is the vertex of the tree as its server sees it; overlay.Loop is one. Inputs are taken in
// call order.
type Uplink interface {
	// Post never blocks.
	Post(in ...tree.Input)
	// AwaitRoom waits while the way up is congested, at most until ctx ends.
	AwaitRoom(ctx context.Context) error
}

// eventSink sends to the vertex until the session ends. The output that detached ranks write
// afterwards goes to rest.
type eventSink struct {
	up   Uplink
	rest func(stream protocol.Kind, text []byte) // nil: the output is dropped
	// life ends with close. The pumps outlive the call that starts them.
	life context.Context
	end  context.CancelFunc
	over atomic.Bool // output goes to rest
	shut atomic.Bool
}

func newEventSink(up Uplink, rest func(protocol.Kind, []byte)) *eventSink {
	life, end := context.WithCancel(context.Background())
	return &eventSink{up: up, rest: rest, life: life, end: end}
}

// redirect directs the output that is written from now on to rest.
func (o *eventSink) redirect() { o.over.Store(true) }

func (o *eventSink) close() {
	o.shut.Store(true)
	o.end()
}

func (o *eventSink) post(in ...tree.Input) {
	if !o.shut.Load() {
		o.up.Post(in...)
	}
}

func (o *eventSink) events(groups ...protocol.Group) {
	if len(groups) > 0 {
		o.post(tree.LocalEvents{Groups: groups})
	}
}

// output passes on the output of a rank.
func (o *eventSink) output(groups ...protocol.Group) {
	if !o.over.Load() {
		o.events(groups...)
		return
	}
	for _, g := range groups {
		if o.rest != nil {
			o.rest(g.Kind, g.Body)
		}
	}
}

func (o *eventSink) reply(id protocol.RequestID, groups ...protocol.Group) {
	if len(groups) > 0 {
		o.post(tree.LocalReply{ID: id, Groups: groups})
	}
}

// await returns when the way up has room.
func (o *eventSink) await() {
	if !o.shut.Load() {
		o.up.AwaitRoom(o.life)
	}
}
