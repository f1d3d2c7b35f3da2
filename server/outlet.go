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

// outlet sends to the vertex until the session ends. The output that detached ranks write
// afterwards goes to rest.
type outlet struct {
	up   Uplink
	rest func(stream protocol.Kind, text []byte) // nil: the output is dropped
	// life ends with close. The pumps outlive the call that starts them.
	life context.Context
	end  context.CancelFunc
	over atomic.Bool // output goes to rest
	shut atomic.Bool
}

func newOutlet(up Uplink, rest func(protocol.Kind, []byte)) *outlet {
	life, end := context.WithCancel(context.Background())
	return &outlet{up: up, rest: rest, life: life, end: end}
}

// turn directs the output that is written from now on to rest.
func (o *outlet) turn() { o.over.Store(true) }

func (o *outlet) close() {
	o.shut.Store(true)
	o.end()
}

func (o *outlet) post(in ...tree.Input) {
	if !o.shut.Load() {
		o.up.Post(in...)
	}
}

func (o *outlet) events(groups ...protocol.Group) {
	if len(groups) > 0 {
		o.post(tree.LocalEvents{Groups: groups})
	}
}

// output passes on the output of a rank.
func (o *outlet) output(groups ...protocol.Group) {
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

func (o *outlet) reply(id protocol.RequestID, groups ...protocol.Group) {
	if len(groups) > 0 {
		o.post(tree.LocalReply{ID: id, Groups: groups})
	}
}

// await returns when the way up has room.
func (o *outlet) await() {
	if !o.shut.Load() {
		o.up.AwaitRoom(o.life)
	}
}
