// The listener of a simulated server, in memory.

package cluster

import (
	"context"
	"net"
	"sync"
	"syscall"

	"sdm/server"
	"sdm/tree/overlay"
)

// door accepts the parents of one server: the in-memory counterpart of overlay.Listener. Its
// methods are safe for concurrent use.
type door struct {
	self *server.Self
	by   *overlay.ReaderPool // makes the links
	come chan overlay.Link   // our ends of new links
	shut chan struct{}       // closed by Close
	once sync.Once
}

// newDoor returns an open door.
func newDoor(by *overlay.ReaderPool) *door {
	return &door{by: by, come: make(chan overlay.Link), shut: make(chan struct{})}
}

// knock returns the parent's end of a new link. It returns ECONNREFUSED if the server has ended.
func (d *door) knock(ctx context.Context) (overlay.Link, error) {
	ours, theirs := d.by.Pipe()
	select {
	case d.come <- theirs:
		return ours, nil
	case <-d.shut:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept returns the link and the identity of the next parent that connects to this server.
func (d *door) Accept(ctx context.Context) (overlay.Link, overlay.Identity, error) {
	for {
		link, err := d.wait(ctx)
		if err != nil {
			return nil, overlay.Identity{}, err
		}
		parent, err := overlay.Answer(ctx, link, d.self.Identity())
		if err == nil {
			return link, parent, nil
		}
		// Answer has told the parent why it is refused. Accept waits for the next one.
	}
}

// wait returns the next link.
func (d *door) wait(ctx context.Context) (overlay.Link, error) {
	select {
	case link := <-d.come:
		return link, nil
	case <-d.shut:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close ends Accept. Later connections are refused.
func (d *door) Close() error {
	d.once.Do(func() { close(d.shut) })
	return nil
}
