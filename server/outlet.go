package server

import (
	"context"
	"sync/atomic"

	"sdm/protocol"
	"sdm/tree"
)

// Uplink is this server's vertex of the tree, as the server sees it; the
// overlay's Loop is one. Inputs are taken in call order.
type Uplink interface {
	// Post never blocks.
	Post(in ...tree.Input)
	// PostOutput is the same, but first waits while the way up is congested, at
	// most until ctx ends.
	PostOutput(ctx context.Context, in tree.LocalEvents) error
}

// outlet is the way up as long as the session lasts. What ranks that were let go
// write afterwards is given to rest.
type outlet struct {
	up   Uplink
	rest func(stream protocol.Kind, text []byte) // nil: it is dropped
	life context.Context                         // ends when closed; pumps outlive the call that starts them
	end  context.CancelFunc
	over atomic.Bool // output is for rest
	shut atomic.Bool
}

func newOutlet(up Uplink, rest func(protocol.Kind, []byte)) *outlet {
	life, end := context.WithCancel(context.Background())
	return &outlet{up: up, rest: rest, life: life, end: end}
}

// turn gives what is written from now on to rest.
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

// output hands on what a rank has written.
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
		o.up.PostOutput(o.life, tree.LocalEvents{})
	}
}
