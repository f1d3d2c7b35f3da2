package cluster

import (
	"context"
	"net"
	"sync"
	"syscall"

	"sdm/server"
	"sdm/tree/overlay"
)

// door is where parents of one server come in: the twin in memory of an
// overlay.Listener. All its methods may be called by any goroutine.
type door struct {
	self *server.Self
	by   *overlay.Carriers // of the links
	come chan overlay.Link
	shut chan struct{}
	once sync.Once
}

func newDoor(by *overlay.Carriers) *door {
	return &door{by: by, come: make(chan overlay.Link), shut: make(chan struct{})}
}

// knock gives the parent's end of a new link. It is refused when the server is
// gone.
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

// Accept gives the next parent that looks for this server.
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
		// It has been told why; the next one may be the right one.
	}
}

// wait gives the next link.
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

// Close ends Accept, and refuses everybody from now on.
func (d *door) Close() error {
	d.once.Do(func() { close(d.shut) })
	return nil
}
