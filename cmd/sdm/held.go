// What the process of a session has: a first front end, and what is said until others come.

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sdm/cmd/internal/relay"
	"sdm/master/hub"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// firstFD is the descriptor of the connection to the front end that has started this process.
const firstFD = 3

// holdSubcommand is the word by which a front end starts the process of a session: "sdm hold run -n 4 ./a".
const holdSubcommand = "hold"

// intentWord begins a word after holdSubcommand: sessions.State.Intent.
const intentWord = "intent="

// hold makes this the process of a session: what the rest of the command line says is done, but with a session for
// front ends in place of the console.
func (a *app) hold() error {
	conn, err := firstConnection()
	if err != nil {
		return errors.New("hold is for sdm itself: sdm run and sdm attach start such a process")
	}
	a.held = &held{first: conn, keep: hub.DefaultKeep}
	a.held.said.to = a.stderr
	a.args = a.args[1:]
	if intent, some := strings.CutPrefix(a.args[0], intentWord); some && len(a.args) > 1 {
		a.held.intent, a.args = intent, a.args[1:]
	}
	return nil
}

// firstConnection returns the connection to the front end that has started this process.
func firstConnection() (net.Conn, error) {
	unix.CloseOnExec(firstFD)
	f := os.NewFile(firstFD, "front end")
	defer f.Close()
	return net.FileConn(f)
}

// held is what the process of a session has beyond a console's.
type held struct {
	first  net.Conn
	keep   time.Duration
	intent string // see sessions.State
	said   said
	relay  relay.Relay // of what servers write to standard error
}

// said takes what is written for the user: until there are front ends, for standard error.
type said struct {
	mu  sync.Mutex
	to  io.Writer
	hub *hub.Hub
}

// handOver gives what is written from now on to front ends.
func (s *said) handOver(h *hub.Hub) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hub = h
}

// remark shows a message.
func (s *said) remark(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hub != nil {
		s.hub.Tell(protocol.KindNote, rank.Set{}, protocol.Note{Text: text})
		return
	}
	io.WriteString(s.to, "sdm: "+text+"\n")
}

// lines returns a writer of lines of servers and of the log.
func (s *said) lines() io.Writer { return lines{s} }

type lines struct{ said *said }

// Write writes one line.
func (l lines) Write(b []byte) (int, error) {
	l.said.mu.Lock()
	defer l.said.mu.Unlock()
	if l.said.hub == nil {
		return l.said.to.Write(b)
	}
	l.said.hub.Tell(protocol.KindNote, rank.Set{}, protocol.Note{Text: cleanLines(strings.TrimSuffix(string(b), "\n"))})
	return len(b), nil
}

// starter returns a writer of the words of a starter.
func (s *said) starter(kind protocol.Kind) io.Writer { return words{s, kind} }

// words are what a starter says on one of its streams.
type words struct {
	said *said
	kind protocol.Kind
}

// Write writes one line.
func (w words) Write(b []byte) (int, error) {
	w.said.mu.Lock()
	defer w.said.mu.Unlock()
	if w.said.hub == nil {
		return w.said.to.Write(b)
	}
	e := session.NewEvent(protocol.Group{Kind: w.kind, Body: append([]byte(nil), b...)})
	e.From = fromStarter
	w.said.hub.Send(e)
	return len(b), nil
}

// fromStarter is the name of a starter in events of its output.
const fromStarter = "starter"
