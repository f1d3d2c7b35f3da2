// Sending of events, output and replies to the vertex.

package server

import (
	"context"
	"sync/atomic"

	"sdm/protocol"
	"sdm/tree"
)

// Uplink is the vertex of the tree as its server sees it; overlay.Loop is one. Any goroutine may
// call the methods.
type Uplink interface {
	// Post gives the vertex inputs, in order. It never blocks.
	Post(in ...tree.Input)
	// AwaitRoom waits while the link to the parent is congested. It returns an error if ctx or the
	// session has ended.
	AwaitRoom(ctx context.Context) error
}

// eventSink sends to the vertex until the session ends. The output that detached ranks write
// afterwards goes to late.
type eventSink struct {
	up   Uplink
	late func(stream protocol.Kind, text []byte) // nil: the output is dropped
	// life ends with close. It is a field because the goroutines that read output live longer than
	// the call that starts them.
	life context.Context
	end  context.CancelFunc
	over atomic.Bool // output goes to late
	shut atomic.Bool
}

func newEventSink(up Uplink, late func(protocol.Kind, []byte)) *eventSink {
	life, end := context.WithCancel(context.Background())
	return &eventSink{up: up, late: late, life: life, end: end}
}

// redirect directs the output that is written from now on to late.
func (o *eventSink) redirect() { o.over.Store(true) }

// close drops everything that is sent from now on, and ends await.
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
		if o.late != nil {
			o.late(g.Kind, g.Body)
		}
	}
}

func (o *eventSink) reply(id protocol.RequestID, groups ...protocol.Group) {
	if len(groups) > 0 {
		o.post(tree.LocalReply{ID: id, Groups: groups})
	}
}

// await waits while the link to the parent is congested.
func (o *eventSink) await() {
	if !o.shut.Load() {
		o.up.AwaitRoom(o.life)
	}
}
