package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"

	"sdm/master"
	"sdm/tree/overlay"
)

// callers are those who have dialled the rendezvous: a server that has another
// secret is a stranger there, of whom nothing is known but where he calls from. Its
// methods may be called at the same time.
type callers struct {
	net.Listener

	mu    sync.Mutex
	calls int
	letIn int
	hosts []string // of the first ones, up to mostCallers
}

// mostCallers bounds the addresses that are told.
const mostCallers = 4

// Accept counts whom the listener gives.
func (c *callers) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls++
		if len(c.hosts) < mostCallers && !slices.Contains(c.hosts, host) {
			c.hosts = append(c.hosts, host)
		}
	}
	return conn, err
}

// forget begins to count anew: who calls while nobody gathers servers is sent away,
// whatever he proves.
func (c *callers) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls, c.letIn, c.hosts = 0, 0, nil
}

// with tells behind the reason of a failure of callers who proved nothing: more
// have called than were let in.
func (c *callers) with(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls <= c.letIn {
		return err
	}
	return fmt.Errorf("%w; %d of %d calls came without our secret, or of another --session or version (from %s)",
		err, c.calls-c.letIn, c.calls, strings.Join(c.hosts, ", "))
}

// registrar counts whom the door lets in.
type registrar struct {
	door  master.Registrar
	calls *callers
}

func (r registrar) Accept(ctx context.Context) (overlay.Registration, func(overlay.Verdict), error) {
	server, answer, err := r.door.Accept(ctx)
	if err == nil {
		r.calls.mu.Lock()
		defer r.calls.mu.Unlock()
		r.calls.letIn++
	}
	return server, answer, err
}
