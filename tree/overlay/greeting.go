// Hello and Welcome: identification of the two ends of a link.
//
//	parent                          child
//	  | Hello: introduction, want     |
//	  |------------------------------>|  version, session, number, epoch
//	  | Welcome: introduction, or     |
//	  | a refusal with its reason     |
//	  |<------------------------------|
//
// Over TCP, the TLS handshake comes first. A TLS 1.3 client's handshake ends before
// the server has verified the client, so only the Welcome tells the dialling side
// that it is accepted.

package overlay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/wire"
	"sdm/tree"
)

// Reasons for a refusal that callers distinguish with errors.Is.
var (
	ErrVersion = errors.New("another version of the protocol")
	ErrSession = errors.New("another session")
	ErrNumber  = errors.New("another server number")
	ErrEpoch   = errors.New("an older shape of the tree")
	ErrRefused = errors.New("refused") // any other reason, in the other side's words
)

// refusals maps the names of the reasons in packets to errors.
var refusals = map[string]error{
	"version": ErrVersion, "session": ErrSession, "number": ErrNumber, "epoch": ErrEpoch, "refused": ErrRefused,
}

// hello is the body of a Hello packet: of a parent, or of a server that registers.
type hello struct {
	introduction
	Want     tree.NodeID   `json:"want"` // the vertex that the sender looks for
	Register *Registration `json:"register,omitempty"`
}

// welcome is the body of a Welcome packet.
type welcome struct {
	introduction
	Refusal string `json:"refusal,omitempty"` // a key of refusals; "" is accepted
	Reason  string `json:"reason,omitempty"`  // for messages
	// Server is the number given to a server that has registered without one.
	Server *protocol.ServerID `json:"server,omitempty"`
}

// refusal is the error of a side that was refused, or that refuses.
type refusal struct {
	kind   string
	reason string
}

func (r *refusal) Error() string { return r.reason }
func (r *refusal) Unwrap() error { return refusals[r.kind] }

// Greet identifies this vertex on a new link as the parent and verifies that the other end
// is vertex want of the same session. It closes the link if that fails or ctx ends
// first.
func Greet(ctx context.Context, l Link, self Identity, want tree.NodeID) (Identity, error) {
	if e := dialOptionsOf(ctx); e.epoch > 0 {
		self.Epoch = e.epoch
	}
	w, err := exchange(ctx, l, hello{introduction: self.introduce(), Want: want})
	if err == nil {
		err = judgeWelcome(w, self, want)
	}
	if err != nil {
		l.Close()
		return Identity{}, err
	}
	return w.identity(), nil
}

// judgeWelcome verifies the Welcome, even if the other side has accepted this vertex.
func judgeWelcome(w welcome, self Identity, want tree.NodeID) error {
	ours := self.introduce()
	switch {
	case w.Refusal != "":
		return &refusal{w.Refusal, w.Reason}
	case w.Version != ours.Version:
		return versionRefusal(w.introduction, ours)
	case w.Session != ours.Session:
		return sessionRefusal(w.introduction)
	case w.Node != want:
		return numberRefusal(w.introduction, want)
	}
	return nil
}

// Answer answers Greet as the child. It accepts any parent of the same session that
// looks for this vertex and is not of an older epoch. It closes the link if it
// refuses, if that fails, or if ctx ends first.
func Answer(ctx context.Context, l Link, self Identity) (Identity, error) {
	stop := closeAtEnd(ctx, l)
	h, err := receiveHello(l)
	if err == nil {
		err = judgeHello(h, self)
		if failed := reply(l, self, err); err == nil {
			err = failed
		}
	}
	if err = stop(err); err != nil {
		l.Close()
		return Identity{}, err
	}
	return h.identity(), nil
}

// judgeHello returns the refusal of a parent, or nil.
func judgeHello(h hello, self Identity) error {
	ours := self.introduce()
	switch {
	case h.Version != ours.Version:
		return versionRefusal(ours, h.introduction)
	case h.Register != nil:
		return &refusal{"refused", "this is a server, not the place where servers register; " + ours.String()}
	case h.Session != ours.Session:
		return sessionRefusal(ours)
	case h.Want != ours.Node:
		return numberRefusal(ours, h.Want)
	case h.Epoch < ours.Epoch:
		return &refusal{"epoch", fmt.Sprintf("server %d has a parent of epoch %d already, epoch %d is older",
			ours.Node-1, ours.Epoch, h.Epoch)}
	}
	return nil
}

func versionRefusal(a, b introduction) error {
	return &refusal{"version", fmt.Sprintf("%v, %v; install the same build on all hosts", a, b)}
}

func sessionRefusal(found introduction) error {
	return &refusal{"session", fmt.Sprintf("server %d on %s belongs to another session", found.Node-1, found.Host)}
}

func numberRefusal(found introduction, want tree.NodeID) error {
	return &refusal{"number", fmt.Sprintf("found server %d on %s instead of server %d", found.Node-1, found.Host, want-1)}
}

// exchange sends a Hello and waits for the Welcome.
func exchange(ctx context.Context, l Link, h hello) (welcome, error) {
	stop := closeAtEnd(ctx, l)
	var w welcome
	err := l.Send(wire.Message{Kind: wire.Hello, Body: canonical.JSON(h)})
	if err == nil {
		err = receiveGreeting(l, wire.Welcome, &w)
	}
	if err == nil {
		err = w.check()
	}
	if w.Refusal != "" && refusals[w.Refusal] == nil {
		w.Refusal = "refused" // a reason of a later version
	}
	w.Reason = clip(w.Reason, maxPath)
	return w, stop(err)
}

// receiveHello receives a Hello.
func receiveHello(l Link) (hello, error) {
	var h hello
	err := receiveGreeting(l, wire.Hello, &h)
	if err == nil {
		err = h.check()
	}
	return h, err
}

// reply sends the Welcome: accepted, or refused because of err.
func reply(l Link, self Identity, err error) error {
	return sendWelcome(l, welcome{introduction: self.introduce()}, err)
}

func sendWelcome(l Link, w welcome, err error) error {
	var no *refusal
	if errors.As(err, &no) {
		w.Refusal, w.Reason = no.kind, clip(no.reason, maxPath)
	}
	return l.Send(wire.Message{Kind: wire.Welcome, Body: canonical.JSON(w)})
}

// receiveGreeting receives a packet of the given kind and decodes its body.
func receiveGreeting(l Link, kind wire.Kind, into any) error {
	receive := l.Receive
	if s, ok := l.(interface{ receiveGreeting() (wire.Message, error) }); ok {
		receive = s.receiveGreeting // accepts any version
	}
	m, err := receive()
	if err != nil {
		return err
	}
	if m.Kind != kind {
		return fmt.Errorf("greeting expected, packet of kind %d came", m.Kind)
	}
	if err := json.Unmarshal(m.Body, into); err != nil {
		return fmt.Errorf("greeting cannot be read: %w", err)
	}
	return nil
}

// closeAtEnd closes the link if ctx ends before stop is called. stop returns the
// cause of ctx instead of the error that the end of ctx has caused.
func closeAtEnd(ctx context.Context, l Link) (stop func(error) error) {
	undo := context.AfterFunc(ctx, func() { l.Close() })
	return func(err error) error {
		if !undo() || err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
}
