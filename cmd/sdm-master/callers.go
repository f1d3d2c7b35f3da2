// Counts connections to the rendezvous that did not authenticate.

package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"sdm/master/registration"
	"sdm/tree/overlay"
)

// callers counts connections to the rendezvous, because nothing but the address is known of a server
// with another secret. Its methods are safe for concurrent use.
type callers struct {
	net.Listener

	mu    sync.Mutex
	calls int      // all connections
	letIn int      // those that the rendezvous has authenticated
	hosts []string // addresses of the first ones, up to maxCallers
}

// maxCallers limits the number of addresses that are reported.
const maxCallers = 4

// Accept counts the connections.
func (c *callers) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls++
		if len(c.hosts) < maxCallers && !slices.Contains(c.hosts, host) {
			c.hosts = append(c.hosts, host)
		}
	}
	return conn, err
}

// forget resets the counts. It is called when a registration begins: connections before that were
// refused whether or not they had the secret.
func (c *callers) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.letIn, c.hosts = 0, 0, nil
}

// with adds to an error the number of unauthenticated connections: those that were not let in.
func (c *callers) with(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls <= c.letIn {
		return err
	}
	return fmt.Errorf("%w; %d of %d calls came without our secret, or of another --session or version (from %s)",
		err, c.calls-c.letIn, c.calls, strings.Join(c.hosts, ", "))
}

// registrar counts the connections that the rendezvous lets in.
type registrar struct {
	door  registration.Registrar
	calls *callers
}

// Accept is that of the rendezvous; see registration.Registrar.
func (r registrar) Accept(ctx context.Context) (overlay.Registration, func(overlay.Decision), error) {
	server, answer, err := r.door.Accept(ctx)
	if err == nil {
		r.calls.mu.Lock()
		defer r.calls.mu.Unlock()
		r.calls.letIn++
	}
	return server, answer, err
}
