// How a server connects to its parent and its children.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"sdm/cmd/internal/listen"
	"sdm/cmd/internal/startup"
	"sdm/launch/secret"
	"sdm/protocol"
	"sdm/protocol/rank"
	"sdm/server"
	"sdm/tree"
	"sdm/tree/overlay"
)

// unseenWait is how long a server tries to reach the master before it reports that. A master that is
// started together with the servers takes less.
const unseenWait = 5 * time.Second

// links connects to the parent in the way that the flags choose.
func (p *program) links(ctx context.Context) (server.Links, error) {
	o := p.o
	switch {
	case o.linkFD >= 0:
		return p.inheritedLink(ctx)
	case o.listenFD >= 0:
		return p.inheritedListener()
	case o.rendezvous != "":
		return p.rendezvous(ctx)
	case p.route != nil:
		return p.routed()
	}
	key, err := p.key()
	if err != nil {
		return server.Links{}, err
	}
	listener, err := listen.All(p.hosts(), o.port, overlay.MaxPorts)
	if err != nil {
		return server.Links{}, err
	}
	return p.listening(listener, key)
}

// inheritedLink uses the connection to the parent that --link-fd names.
func (p *program) inheritedLink(ctx context.Context) (server.Links, error) {
	in, out := p.o.linkFD, p.o.linkFD+1
	link, err := overlay.FromFiles(os.NewFile(uintptr(in), "descriptor "+strconv.Itoa(in)),
		os.NewFile(uintptr(out), "descriptor "+strconv.Itoa(out)), "fd "+strconv.Itoa(in))
	if err != nil {
		return server.Links{}, err
	}
	return p.linked(ctx, link)
}

// linked answers the handshake of the parent on an inherited connection. The parent may greet late:
// it may have to wait for the ranks in a queue. If it ends, so does the connection. Without a secret
// the server can have no children.
func (p *program) linked(ctx context.Context, link overlay.Link) (server.Links, error) {
	links := server.Links{Self: p.self, Parent: link}
	if p.o.secretFile != "" {
		key, err := p.key()
		if err != nil {
			return server.Links{}, errors.Join(err, link.Close())
		}
		links.Dial = p.dial(key)
	}
	if _, err := overlay.Answer(ctx, link, p.self.Identity()); err != nil {
		return server.Links{}, fmt.Errorf("the parent at %s: %w", link.Peer(), err)
	}
	return links, nil
}

// inheritedListener listens for the parent on the socket that --listen-fd names.
func (p *program) inheritedListener() (server.Links, error) {
	pipe := os.NewFile(uintptr(p.o.secretFD), "secret")
	key, err := secret.Read(pipe)
	if err != nil {
		return server.Links{}, err
	}
	file := os.NewFile(uintptr(p.o.listenFD), "listener")
	listener, err := net.FileListener(file)
	file.Close()
	if err != nil {
		return server.Links{}, fmt.Errorf("--listen-fd %d: %w", p.o.listenFD, err)
	}
	links, err := p.listening(listener, overlay.Secret(key))
	if err != nil {
		return server.Links{}, err
	}
	links.ConnectWait = p.o.attended()
	gone := make(chan struct{})
	links.Gone = gone
	// The goroutine ends when the process that has started us closes the pipe or ends, or with this
	// process.
	go func() {
		defer close(gone)
		io.Copy(io.Discard, pipe)
	}()
	return links, nil
}

// rendezvous listens where the master can reach it and registers with the master.
func (p *program) rendezvous(ctx context.Context) (server.Links, error) {
	key, err := p.key()
	if err != nil {
		return server.Links{}, err
	}
	hosts := []string{p.o.listen}
	if p.o.listen == "" {
		if hosts, err = listen.Towards(p.o.meetingPlaces()...); err != nil {
			return server.Links{}, fmt.Errorf("--rendezvous %s: %w", p.o.rendezvous, err)
		}
	}
	listener, err := listen.All(hosts, 0, 1)
	if err != nil {
		return server.Links{}, err
	}
	links, err := p.listening(listener, key)
	if err != nil {
		return server.Links{}, err
	}
	r := overlay.Registration{
		Server: p.cfg.ID, Size: p.number.Size, Host: p.cfg.Host, PID: os.Getpid(),
		Addrs: listen.Addrs(listener), Program: p.self.Identity().Program, Build: startup.Build(), Slot: p.slotProgram(),
	}
	if p.node != nil {
		r.Ranks = p.node.ranks
	}
	if p.cfg.Existing != nil {
		for rk := range p.cfg.Existing {
			r.Ranks = r.Ranks.Union(rank.Of(rk))
		}
		r.Size = p.jobSize
	}
	links.Registration, p.cfg.ID, err = p.register(ctx, key, r)
	p.self.Number(p.cfg.ID)
	if err != nil {
		links.Listener.Close()
		return server.Links{}, err
	}
	links.ConnectWait = p.o.attended() // the others may be in a queue
	return links, nil
}

// register registers with the master. The master may be started later, so register tries again, and
// reports after unseenWait what it waits for.
func (p *program) register(ctx context.Context, key overlay.Secret,
	r overlay.Registration) (overlay.Link, protocol.ServerID, error) {
	if p.o.connectWait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.o.connectWait)
		defer cancel()
	}
	began, said := time.Now(), false
	link, number, err := overlay.Register(ctx, p.o.meetingPlaces(), key, r, func(err error) {
		if !said && time.Since(began) > unseenWait {
			said = true
			p.log.Warn("no master yet, still trying", "server", r.Server, "rendezvous", p.o.rendezvous, "err", err)
		}
	})
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w (no answer in %v: start the master first, or give a longer --connect-wait)", err, p.o.connectWait)
	}
	return link, number, err
}

// slotProgram returns the program that a starter gave us to run; "": none.
func (p *program) slotProgram() string {
	if len(p.o.program) == 0 {
		return ""
	}
	return p.o.program[0]
}

// listening returns the links of a server that waits for its parent at a listener.
func (p *program) listening(listener net.Listener, key overlay.Secret) (server.Links, error) {
	l, err := overlay.NewListener(listener, key, p.self.Identity)
	if err != nil {
		return server.Links{}, err
	}
	p.log.Info("listening", "address", l.Addr(), "server", p.cfg.ID)
	return server.Links{Self: p.self, Listener: l, Dial: p.dial(key), ConnectWait: p.o.connectWait}, nil
}

// dial returns a function that connects to a child of this server.
func (p *program) dial(key overlay.Secret) func(context.Context, tree.NodeID, protocol.Route) (overlay.Link, error) {
	return func(ctx context.Context, child tree.NodeID, r protocol.Route) (overlay.Link, error) {
		link, _, err := overlay.Dial(ctx, r.Addrs, r.Ports, key, p.self.Identity(), child)
		return link, err
	}
}

// key returns the secret of this session. The secret from which it is derived is read once.
func (p *program) key() (overlay.Secret, error) {
	if p.secret == nil {
		p.secret = sync.OnceValues(p.readKey)
	}
	return p.secret()
}

// readKey reads the secret that the flags name, or else the user's, and derives the secret of this
// session from it.
func (p *program) readKey() (overlay.Secret, error) {
	var key secret.Key
	var err error
	switch {
	case p.o.secretFD >= 0:
		key, err = p.givenKey()
	case p.o.secretFile != "":
		key, err = secret.File(p.o.secretFile)
	default:
		key, err = secret.User()
	}
	return overlay.Secret(key).ForSession(p.o.session), err
}

// givenKey reads the secret from the process that has started us.
func (p *program) givenKey() (secret.Key, error) {
	pipe := os.NewFile(uintptr(p.o.secretFD), "secret")
	defer pipe.Close()
	key, err := secret.Read(pipe)
	if err != nil {
		err = fmt.Errorf("--secret-fd %d brings no secret (does the remote shell hand standard input on? else give sdm --secret-file PATH, on a file system that all hosts have): %w", p.o.secretFD, err)
	}
	return key, err
}
