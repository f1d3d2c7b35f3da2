package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// NodeHost is the listener at which the stand-ins of a node connect to their server.
type NodeHost struct {
	l *net.UnixListener
}

// Gather waits for n stand-ins, or until ctx ends, and returns those that have come. ending is
// called when the starter ends the job in the slot of one of them; it must not block. Connections
// that are not from stand-ins of this user are closed.
func (h *NodeHost) Gather(ctx context.Context, n int, ending func(text string)) []*Remote {
	stop := context.AfterFunc(ctx, func() { h.l.SetDeadline(time.Now()) })
	defer stop()
	var remotes []*Remote
	for len(remotes) < n {
		conn, err := h.l.AcceptUnix()
		if err != nil {
			return remotes
		}
		if g, err := welcome(conn, ending); err == nil {
			remotes = append(remotes, g)
		} else {
			conn.Close()
		}
	}
	return remotes
}

// Close closes the listener; a slot that comes later becomes a server of its own. Guests stay
// connected.
func (h *NodeHost) Close() error { return h.l.Close() }

// Remote is a stand-in, seen from the server of its node. Several goroutines may use it. It has one
// goroutine, which reads and ends with the connection.
type Remote struct {
	Rank    rank.ID
	Program string // program of its slot, "" if the starter gave none
	conn    *net.UnixConn
	ending  func(string)
	done    chan struct{}

	mu      sync.Mutex
	id      int
	waiting map[int]chan heldRank
	ranks   map[int]*Process // by process id
	gone    bool
}

type heldRank struct {
	p   *Process
	err error
}

func welcome(conn *net.UnixConn, ending func(string)) (*Remote, error) {
	if err := ownPeer(conn); err != nil {
		return nil, err
	}
	conn.SetReadDeadline(time.Now().Add(helloTime))
	s, files, err := receive(conn, make([]byte, maxMessage))
	for _, f := range files {
		f.Close()
	}
	if err == nil && (s.Kind != "hello" || s.Rank < 0 || s.Rank > rank.MaxID) {
		err = errors.New("no hello")
	}
	if err != nil {
		return nil, err
	}
	conn.SetReadDeadline(time.Time{})
	g := &Remote{
		Rank: s.Rank, Program: s.Program, conn: conn, ending: ending, done: make(chan struct{}),
		waiting: map[int]chan heldRank{}, ranks: map[int]*Process{},
	}
	go g.read()
	return g, nil
}

// HoldSpec says how the rank of a stand-in is started. Its environment is that of the slot,
// changed by Env; its program is that of the slot, if the slot has one.
type HoldSpec struct {
	Program string
	Args    []string
	Cwd     string
	Env     []protocol.EnvDirective

	Stdin, Through, TTY bool // as in Spec
}

// Hold has the stand-in start its rank and hold it; see Forker.Hold.
func (g *Remote) Hold(spec HoldSpec) (*Process, error) {
	answer := make(chan heldRank, 1)
	g.mu.Lock()
	if g.gone {
		g.mu.Unlock()
		return nil, g.lost()
	}
	g.id++
	id := g.id
	g.waiting[id] = answer
	g.mu.Unlock()
	err := send(g.conn, message{
		Kind: "hold", ID: id, Rank: g.Rank, Program: spec.Program, Args: spec.Args, Cwd: spec.Cwd, Env: spec.Env,
		Stdin: spec.Stdin, Through: spec.Through, TTY: spec.TTY,
	})
	if err != nil {
		g.mu.Lock()
		delete(g.waiting, id)
		g.mu.Unlock()
		return nil, launchFault("", err, "")
	}
	held := <-answer
	return held.p, held.err
}

func (g *Remote) lost() error {
	return launchFault("", fmt.Errorf("the process in the slot of rank %d has gone", g.Rank), "the starter may have ended the job")
}

// Dismiss tells the stand-in that the session is over, and waits until the connection has ended. A
// stand-in with a detached rank runs on; it is not waited for.
func (g *Remote) Dismiss() {
	send(g.conn, message{Kind: "quit", Rank: g.Rank}) // an error means that it has ended
	g.conn.Close()
	<-g.done
}

func (g *Remote) read() {
	defer close(g.done)
	buffer := make([]byte, maxMessage)
	for {
		s, files, err := receive(g.conn, buffer)
		if err != nil {
			break
		}
		switch s.Kind {
		case "held":
			g.held(s, files)
			continue // the files belong to the rank
		case "exit":
			g.ended(s)
		case "ending":
			g.ending(s.Text)
		}
		for _, f := range files {
			f.Close()
		}
	}
	g.conn.Close()
	g.leave()
}

// held takes over a rank that the stand-in has started.
func (g *Remote) held(s message, files []*os.File) {
	g.mu.Lock()
	answer := g.waiting[s.ID]
	delete(g.waiting, s.ID)
	g.mu.Unlock()
	if answer == nil || s.Fault != nil || s.PID <= 0 {
		for _, f := range files {
			f.Close()
		}
		if answer != nil && s.Fault != nil {
			answer <- heldRank{err: s.Fault}
		} else if answer != nil {
			answer <- heldRank{err: g.lost()}
		}
		return
	}
	p := &Process{PID: s.PID, Program: s.Program, done: make(chan struct{})}
	for i, f := range files {
		switch s.Streams[i] {
		case 'i':
			p.Stdin = io.WriteCloser(f)
		case 'o':
			p.Stdout = f
		case 'e':
			p.Stderr = f
		default:
			f.Close()
		}
	}
	g.mu.Lock()
	g.ranks[p.PID] = p
	g.mu.Unlock()
	answer <- heldRank{p: p}
}

func (g *Remote) ended(s message) {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := g.ranks[s.PID]
	if p == nil || s.Exit == nil {
		return
	}
	delete(g.ranks, s.PID)
	p.exit, p.code = *s.Exit, s.Status
	close(p.done)
}

// leave ends all waits for a stand-in that has ended. Its ranks have been killed by their
// parent-death signal (PR_SET_PDEATHSIG).
func (g *Remote) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gone = true
	for id, answer := range g.waiting {
		delete(g.waiting, id)
		answer <- heldRank{err: g.lost()}
	}
	for pid, p := range g.ranks {
		delete(g.ranks, pid)
		p.exit, p.code = exitOf(9), 128+9
		close(p.done)
	}
}
