// The server's end of its connection to the slots of other ranks of the node.

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
// that are not from stand-ins of this user are closed. One that says nothing delays no other. It is
// called once.
//
// Goroutines: one for each connection, until its hello is read; Gather waits for them.
func (h *NodeHost) Gather(ctx context.Context, n int, ending func(text string)) []*Remote {
	if n <= 0 {
		return nil
	}
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	stop := context.AfterFunc(ctx, func() { h.l.SetDeadline(time.Now()) })
	defer stop()
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		remotes []*Remote
	)
	for {
		conn, err := h.l.AcceptUnix()
		if err != nil {
			break
		}
		group.Go(func() {
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			m, err := hello(conn)
			mu.Lock()
			defer mu.Unlock()
			if !stop() || err != nil || len(remotes) == n {
				conn.Close()
				return
			}
			remotes = append(remotes, welcome(conn, m, ending))
			if len(remotes) == n {
				enough()
			}
		})
	}
	enough()
	group.Wait()
	return remotes
}

// Close closes the listener; a slot that starts later becomes a server of its own. Stand-ins
// stay connected.
func (h *NodeHost) Close() error { return h.l.Close() }

// Remote is the server's end of the connection to a stand-in. Several goroutines may use it. It has
// one goroutine, which reads and ends with the connection.
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

// heldRank is the result of Remote.Hold.
type heldRank struct {
	p   *Process
	err error
}

// hello reads the hello of a connection; an error if the peer is no stand-in of this user.
func hello(conn *net.UnixConn) (message, error) {
	if err := ownPeer(conn); err != nil {
		return message{}, err
	}
	conn.SetReadDeadline(time.Now().Add(helloTime))
	m, files, err := receive(conn, make([]byte, maxMessage))
	for _, f := range files {
		f.Close()
	}
	if err == nil && (m.Kind != "hello" || m.Rank < 0 || m.Rank > rank.MaxID) {
		err = errors.New("no hello")
	}
	conn.SetReadDeadline(time.Time{})
	return m, err
}

// welcome makes the Remote of a stand-in that has said hello.
func welcome(conn *net.UnixConn, m message, ending func(string)) *Remote {
	r := &Remote{
		Rank: m.Rank, Program: m.Program, conn: conn, ending: ending, done: make(chan struct{}),
		waiting: map[int]chan heldRank{}, ranks: map[int]*Process{},
	}
	go r.read()
	return r
}

// HoldSpec says how the rank of a stand-in is started. It gets the environment of the slot, changed
// by Env, and the program of the slot, if the slot has one.
type HoldSpec struct {
	Program string
	Args    []string
	Cwd     string
	Env     []protocol.EnvDirective

	Stdin, Through, TTY bool // as in Spec
}

// Hold has the stand-in start its rank and hold it; see Forker.Hold.
func (r *Remote) Hold(spec HoldSpec) (*Process, error) {
	answer := make(chan heldRank, 1)
	r.mu.Lock()
	if r.gone {
		r.mu.Unlock()
		return nil, r.lost()
	}
	r.id++
	id := r.id
	r.waiting[id] = answer
	r.mu.Unlock()
	err := send(r.conn, message{
		Kind: "hold", ID: id, Rank: r.Rank, Program: spec.Program, Args: spec.Args, Cwd: spec.Cwd, Env: spec.Env,
		Stdin: spec.Stdin, Through: spec.Through, TTY: spec.TTY,
	})
	if err != nil {
		r.mu.Lock()
		delete(r.waiting, id)
		r.mu.Unlock()
		return nil, launchFault("", err, "")
	}
	held := <-answer
	return held.p, held.err
}

func (r *Remote) lost() error {
	return launchFault("", fmt.Errorf("the process in the slot of rank %d has gone", r.Rank), "the starter may have ended the job")
}

// Dismiss tells the stand-in that the session is over, and waits until the connection has ended. A
// stand-in with a detached rank runs on; it is not waited for.
func (r *Remote) Dismiss() {
	send(r.conn, message{Kind: "quit", Rank: r.Rank}) // an error means that it has ended
	r.conn.Close()
	<-r.done
}

// read is the goroutine of the Remote.
func (r *Remote) read() {
	defer close(r.done)
	buffer := make([]byte, maxMessage)
	for {
		m, files, err := receive(r.conn, buffer)
		if err != nil {
			break
		}
		switch m.Kind {
		case "held":
			r.held(m, files)
			continue // the files belong to the rank
		case "exit":
			r.ended(m)
		case "ending":
			r.ending(m.Text)
		}
		for _, f := range files {
			f.Close()
		}
	}
	r.conn.Close()
	r.leave()
}

// held takes over a rank that the stand-in has started.
func (r *Remote) held(m message, files []*os.File) {
	r.mu.Lock()
	answer := r.waiting[m.ID]
	delete(r.waiting, m.ID)
	r.mu.Unlock()
	if answer == nil || m.Fault != nil || m.PID <= 0 {
		for _, f := range files {
			f.Close()
		}
		if answer != nil && m.Fault != nil {
			answer <- heldRank{err: m.Fault}
		} else if answer != nil {
			answer <- heldRank{err: r.lost()}
		}
		return
	}
	p := &Process{PID: m.PID, Program: m.Program, done: make(chan struct{})}
	for i, f := range files {
		switch m.Streams[i] {
		case 'i':
			p.Stdin = io.WriteCloser(f)
		case 't':
			p.Stdin = ttyInput{f}
		case 'o':
			p.Stdout = f
		case 'e':
			p.Stderr = f
		default:
			f.Close()
		}
	}
	r.mu.Lock()
	r.ranks[p.PID] = p
	r.mu.Unlock()
	answer <- heldRank{p: p}
}

func (r *Remote) ended(m message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.ranks[m.PID]
	if p == nil || m.Exit == nil {
		return
	}
	delete(r.ranks, m.PID)
	p.exit, p.code = *m.Exit, m.Status
	close(p.done)
}

// leave ends all waits for a stand-in that has ended. Its ranks have been killed by their
// parent-death signal (PR_SET_PDEATHSIG).
func (r *Remote) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = true
	for id, answer := range r.waiting {
		delete(r.waiting, id)
		answer <- heldRank{err: r.lost()}
	}
	for pid, p := range r.ranks {
		delete(r.ranks, pid)
		p.exit, p.code = exitOf(9), 128+9 // SIGKILL
		close(p.done)
	}
}
