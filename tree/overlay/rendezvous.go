// Registration of servers with the master.

package overlay

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// Registration is what a server sends to the master if there is no routing table
// yet.
type Registration struct {
	Server  protocol.ServerID `json:"server"`
	Size    int               `json:"size"` // number of servers, as the server knows it; 0 is unknown
	Host    string            `json:"host"`
	PID     int               `json:"pid"`
	Addrs   []string          `json:"addrs"`             // "ip:port" that it listens on, best first
	Program string            `json:"program,omitempty"` // path of its executable
	Build   string            `json:"build,omitempty"`   // of its executable
	Slot    string            `json:"slot,omitempty"`    // program of the server's slot, if any
	// Ranks are the ranks of a server that represents all slots of its node, in a
	// job of Size ranks. The server has no number then, and Server is ignored: the
	// master assigns one. Empty: the server has the rank of its own number.
	Ranks rank.Set `json:"ranks,omitzero"`
}

// Decision is the master's answer to a registration.
type Decision struct {
	Refusal string            // reason of a refusal; "" accepts the server
	Server  protocol.ServerID // number of a server that registered with Ranks, or if Renumber is set
	// Renumber assigns Server to a server that has a number of its own.
	Renumber bool
}

func (r *Registration) check() error {
	if !r.Ranks.IsEmpty() {
		r.Server = 0
	}
	switch {
	case r.Server < 0 || r.Server >= maxServers, r.Size < 0 || r.Size > maxServers:
		return fmt.Errorf("registration has number %d of %d, at most %d is possible", r.Server, r.Size, maxServers)
	case len(r.Host) > maxName, len(r.Build) > maxName, len(r.Program) > maxPath, len(r.Slot) > maxPath,
		len(r.Addrs) > maxAddrs:
		return fmt.Errorf("registration has a field that is too long")
	}
	for _, addr := range r.Addrs {
		if len(addr) > maxName+len(":65535") {
			return fmt.Errorf("registration has an address that is too long")
		}
	}
	return nil
}

// Register registers a server with the master at one of addrs, "host:port", best
// first, and waits for the answer. It retries until ctx ends if no program listens,
// or one that does not know the secret. A refusal (number taken, beyond the size, version) is
// final and is returned as the error, matching ErrRefused or ErrVersion. missed is
// called with the error of each failed attempt, unless it is nil.
//
// The number is the one that the master assigns, else the one in r. No packets arrive on the link:
// Receive fails when the master is gone or closes the link. The caller closes it.
func Register(ctx context.Context, addrs []string, secret Secret, r Registration,
	missed func(error)) (Link, protocol.ServerID, error) {
	own, err := newCredentials(secret, forRendezvous)
	if err != nil {
		return nil, 0, err
	}
	if err := r.check(); err != nil {
		return nil, 0, fmt.Errorf("register with %s: %w", strings.Join(addrs, ", "), err)
	}
	number := r.Server
	self := Identity{Host: r.Host, Program: r.Program, Build: r.Build, Size: r.Size}
	link, err := search(ctx, addrs, 1, func(short context.Context, addr string) (*stream, error) {
		s, err := connect(short, addr, own)
		if err != nil && missed != nil {
			missed(err)
		}
		return s, err
	}, func(_ context.Context, s *stream) error {
		// There is no time limit for the answer, because the master may wait for
		// other servers.
		w, err := exchange(ctx, s, hello{introduction: self.introduce(), Register: &r})
		if err == nil {
			err = judgeAnswer(w, self)
		}
		if err != nil {
			s.Close()
			return err
		}
		if w.Server != nil {
			number = *w.Server
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("register with the master: %w", err)
	}
	return link, number, nil
}

// judgeAnswer verifies the master's answer to a registration.
func judgeAnswer(w welcome, self Identity) error {
	if w.Refusal != "" {
		return &refusal{w.Refusal, w.Reason}
	}
	ours := self.introduce()
	switch {
	case w.Version != ours.Version:
		return versionRefusal(w.introduction, ours)
	case w.Server != nil && (*w.Server < 0 || *w.Server >= maxServers):
		return fmt.Errorf("the master gives the number %d, at most %d is possible", *w.Server, maxServers)
	}
	return nil
}

// RendezvousListener accepts registrations of servers. It limits unauthenticated
// connections and sends them nothing; see acceptor. The links of accepted servers stay
// open until the servers close them, or until Close, which tells the servers that
// the master is gone.
//
// Goroutines, besides the acceptor's: one for each of these links, ended with the link and awaited
// by Close.
type RendezvousListener struct {
	acceptor *acceptor
	self     Identity

	mu    sync.Mutex
	links map[*stream]bool // true: answered; nil after Close
	group sync.WaitGroup
}

// NewRendezvous returns a RendezvousListener on an open port. It owns l, also when
// it fails. Only host, program and build of self are used, in messages.
func NewRendezvous(l net.Listener, secret Secret, self Identity) (*RendezvousListener, error) {
	d, err := newAcceptor(l, secret, forRendezvous)
	if err != nil {
		return nil, err
	}
	return &RendezvousListener{acceptor: d, self: self, links: map[*stream]bool{}}, nil
}

// Addr returns the address of the port.
func (r *RendezvousListener) Addr() string { return r.acceptor.l.Addr().String() }

// Accept waits for a server of the same version that proves the secret. The caller
// answers each one once, now or later, from any goroutine. Errors are as from Listener.Accept.
func (r *RendezvousListener) Accept(ctx context.Context) (Registration, func(Decision), error) {
	for {
		g, err := r.acceptor.next(ctx)
		if err != nil {
			return Registration{}, nil, err
		}
		err = judgeRegistration(g.hello, r.self)
		if err == nil && r.enter(g.link) {
			given := g.hello.Register
			return *given, func(v Decision) { r.answer(g.link, v, v.Renumber || !given.Ranks.IsEmpty()) }, nil
		}
		reply(g.link, r.self, err)
		g.link.Close()
	}
}

// judgeRegistration returns the refusal of a registration, or nil.
func judgeRegistration(h hello, self Identity) error {
	ours := self.introduce()
	switch {
	case h.Version != ours.Version:
		return versionRefusal(ours, h.introduction)
	case h.Register == nil:
		return &refusal{"refused", "this is the place where servers register, not a server"}
	}
	if err := h.Register.check(); err != nil {
		return &refusal{"refused", err.Error()}
	}
	return nil
}

// enter records a link for Close.
func (r *RendezvousListener) enter(s *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.links == nil {
		return false
	}
	r.links[s] = false
	return true
}

// answer sends the decision, with the number if the server has none of its own.
func (r *RendezvousListener) answer(s *stream, v Decision, numbered bool) {
	r.mu.Lock()
	answered, known := r.links[s]
	if !known || answered {
		r.mu.Unlock()
		return // answered already, or closed
	}
	r.links[s] = true
	r.group.Add(1)
	r.mu.Unlock()
	var err error
	w := welcome{introduction: r.self.introduce()}
	switch {
	case v.Refusal != "":
		err = &refusal{"refused", v.Refusal}
	case numbered:
		w.Server = &v.Server
	}
	if failed := sendWelcome(s, w, err); err == nil {
		err = failed
	}
	if err != nil {
		r.disconnect(s)
		return
	}
	go r.keepOpen(s)
}

// keepOpen keeps the link of an accepted server until the server closes it.
func (r *RendezvousListener) keepOpen(s *stream) {
	s.receiveGreeting() // returns at the end of the link: no packet is expected
	r.disconnect(s)
}

func (r *RendezvousListener) disconnect(s *stream) {
	defer r.group.Done()
	s.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.links, s)
}

// Close ends Accept and closes the links of all servers.
func (r *RendezvousListener) Close() error {
	err := r.acceptor.close()
	r.mu.Lock()
	links := r.links
	r.links = nil
	r.mu.Unlock()
	for s := range links {
		s.Close()
	}
	r.group.Wait()
	return err
}
