// Servers that register with the master.

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

// Registration is what a server tells the master where no routing table is
// known beforehand.
type Registration struct {
	Server  protocol.ServerID `json:"server"`
	Size    int               `json:"size"` // servers that it knows of; 0 is unknown
	Host    string            `json:"host"`
	PID     int               `json:"pid"`
	Addrs   []string          `json:"addrs"`             // "ip:port" that it listens on, best first
	Program string            `json:"program,omitempty"` // path of its executable
	Build   string            `json:"build,omitempty"`   // of its executable
	Slot    string            `json:"slot,omitempty"`    // program of the slot that it stands in, if any
	// Ranks are those that the server has, of a job of Size ranks: it stands for
	// all slots of its node. It has no number then, and Server counts for nothing:
	// the master's answer gives it one. Empty: the rank of its own number.
	Ranks rank.Set `json:"ranks,omitzero"`
}

// Verdict is what a master says to a server that registers.
type Verdict struct {
	Refusal string            // why not; "" accepts it
	Server  protocol.ServerID // the number of one that came with Ranks, or that Renumber means
	// Renumber gives Server to one that came with a number of its own.
	Renumber bool
}

func (r *Registration) check() error {
	if !r.Ranks.IsEmpty() {
		r.Server = 0
	}
	switch {
	case r.Server < 0 || r.Server >= maxServers, r.Size < 0 || r.Size > maxServers:
		return fmt.Errorf("registration has number %d of %d, at most %d is possible", r.Server, r.Size, maxServers)
	case len(r.Host) > maxName, len(r.Build) > maxName, len(r.Program) > maxPath, len(r.Slot) > maxPath, len(r.Addrs) > maxAddrs:
		return fmt.Errorf("registration has a field that is too long")
	}
	for _, addr := range r.Addrs {
		if len(addr) > maxName+len(":65535") {
			return fmt.Errorf("registration has an address that is too long")
		}
	}
	return nil
}

// Register tells the master at one of addrs, "host:port", best first, that a
// server is there, and waits for its answer. It goes on trying until ctx ends while nobody is there or
// somebody without our secret; a refusal (number taken, beyond the size, version)
// is final and is the error, matching ErrRefused or ErrVersion. missed hears why
// a try has met no master; it may be nil.
//
// The number is what the master gives, if it gives one, else that of r. The link
// brings nothing more but its end: Receive fails when the
// master has gone, or wants no more of us. The caller closes it.
func Register(ctx context.Context, addrs []string, secret Secret, r Registration, missed func(error)) (Link, protocol.ServerID, error) {
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
		// The answer may take as long as the master likes: it may wait for others.
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

// RendezvousListener is where a master waits for servers to register. Its port
// is bounded and silent towards strangers; see door. The links of servers that it
// has accepted stay open until they close them, or until Close, by which they see
// that the master has gone.
//
// Goroutines, besides those of the door: one for each of these links, ended by
// its end and awaited by Close.
type RendezvousListener struct {
	door *door
	self Identity

	mu    sync.Mutex
	links map[*stream]bool // whether it has been answered; nil once closed
	group sync.WaitGroup
}

// ListenRendezvous opens addr or one of the next ports, as Listen does. Of self,
// what people read is used: host, program and build.
func ListenRendezvous(addr string, ports int, secret Secret, self Identity) (*RendezvousListener, error) {
	l, err := listen(addr, ports)
	if err != nil {
		return nil, err
	}
	return RendezvousAt(l, secret, self)
}

// RendezvousAt is ListenRendezvous with a listener that is open, which it takes
// over, also when it fails.
func RendezvousAt(l net.Listener, secret Secret, self Identity) (*RendezvousListener, error) {
	d, err := newDoor(l, secret, forRendezvous)
	if err != nil {
		return nil, err
	}
	return &RendezvousListener{door: d, self: self, links: map[*stream]bool{}}, nil
}

// Addr is the address that is listened on.
func (r *RendezvousListener) Addr() string { return r.door.l.Addr().String() }

// Accept waits for a server of our version that proves the secret. The caller
// answers each one once, now or later, from any goroutine. It ends as
// Listener.Accept does.
func (r *RendezvousListener) Accept(ctx context.Context) (Registration, func(Verdict), error) {
	for {
		g, err := r.door.next(ctx)
		if err != nil {
			return Registration{}, nil, err
		}
		err = judgeRegistration(g.hello, r.self)
		if err == nil && r.enter(g.link) {
			given := g.hello.Register
			return *given, func(v Verdict) { r.answer(g.link, v, v.Renumber || !given.Ranks.IsEmpty()) }, nil
		}
		reply(g.link, r.self, err)
		g.link.Close()
	}
}

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

// enter notes a link that is to be closed at the end.
func (r *RendezvousListener) enter(s *stream) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.links == nil {
		return false
	}
	r.links[s] = false
	return true
}

// answer says it, with the number for one that has none.
func (r *RendezvousListener) answer(s *stream, v Verdict, numbered bool) {
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
		r.drop(s)
		return
	}
	go r.hold(s)
}

// hold keeps the link of an accepted server until the server closes it.
func (r *RendezvousListener) hold(s *stream) {
	s.receiveGreeting() // of which there is none: it ends with the link, or with a peer that breaks the rules
	r.drop(s)
}

func (r *RendezvousListener) drop(s *stream) {
	defer r.group.Done()
	s.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.links, s)
}

// Close ends Accept and drops all servers, answered or not.
func (r *RendezvousListener) Close() error {
	err := r.door.close()
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
