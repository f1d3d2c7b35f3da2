// Sending of responses and events.

package rpc

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// writeBatch bounds how many messages are sent with one flush.
const writeBatch = 256

// write sends responses and events until the session or the connection ends. While the front end
// does not read, events are not taken from the session, so that the program's output slows down;
// requests are still read.
func (s *server) write(ctx context.Context) {
	var events <-chan session.Event
	for {
		var batch [][]byte
		var over bool
		select {
		case o := <-s.out:
			batch, over = s.outgoing(batch, o)
			if o.sess != nil {
				events, s.whole = o.sess.Events(), o.whole
			}
		case e, ok := <-events:
			batch, over = s.event(batch, e, ok)
		case <-ctx.Done():
			return
		}
		for !over && len(batch) < writeBatch {
			e, ok, ready := next(events)
			if !ready {
				break
			}
			batch, over = s.event(batch, e, ok)
		}
		if s.conn.write(batch...) != nil {
			return
		}
		if over || s.quit {
			s.ended = true // also for a front end that closes once its quit is answered
		}
		if over {
			return
		}
	}
}

// next returns an event if there is one now.
func next(events <-chan session.Event) (e session.Event, ok, ready bool) {
	select {
	case e, ok = <-events:
		return e, ok, true
	default:
		return e, false, false
	}
}

func (s *server) outgoing(batch [][]byte, o outgoing) (_ [][]byte, last bool) {
	if o.begun != nil {
		batch = sendNumber(batch, o.begun)
	}
	if o.body != nil {
		batch = append(batch, o.body)
	}
	return batch, o.last
}

// sendNumber sends the number of a call whose answers come as notifications, once.
func sendNumber(batch [][]byte, c *call) [][]byte {
	if c.told || c.rpc == nil {
		return batch
	}
	c.told = true
	return append(batch, respond(c.rpc, []byte(`{"id":`+strconv.FormatUint(uint64(c.id), 10)+`}`)))
}

// event adds an event to the result of its call, or sends it as a notification. If ok is false, the
// session is over.
func (s *server) event(batch [][]byte, e session.Event, ok bool) (_ [][]byte, over bool) {
	if !ok {
		return s.abandon(batch), true
	}
	s.quit = s.quit || e.Done != nil && e.Command == "quit"
	c := s.callOf(e)
	e = s.judge.Look(e)
	line := s.line(e, s.whole || c != nil && c.whole)
	switch {
	case c == nil:
		return append(batch, notify(line)), false
	case c.stream:
		return append(sendNumber(batch, c), notify(line)), false
	case e.Done == nil:
		c.answers = append(c.answers, line)
		return batch, false
	}
	return append(batch, respond(c.rpc, c.result(line))), false
}

// line returns the JSON of an event, or, if encoding it panics, of a fault in its place.
func (s *server) line(e session.Event, whole bool) (line []byte) {
	make := e.AppendBrief
	if whole {
		make = e.AppendJSON
	}
	if bad, stack := protocol.Guard(e.Command, func() { line = make(nil) }); bad != nil {
		s.defect(bad, stack)
		e.Name, e.Group = protocol.KindFault.String(),
			protocol.Group{Kind: protocol.KindFault, Ranks: e.Group.Ranks, Body: canonical.JSON(bad)}
		line = e.AppendJSON(nil)
	}
	return line
}

// callOf returns the call that an event answers, and removes it with its done.
func (s *server) callOf(e session.Event) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[e.ID]
	if e.Done != nil {
		delete(s.calls, e.ID)
	}
	return c
}

// result returns the result of a call with its answers.
func (c *call) result(done []byte) []byte {
	b := []byte(`{"id":` + strconv.FormatUint(uint64(c.id), 10) + `,"answers":[`)
	b = append(b, bytes.Join(c.answers, []byte(","))...)
	b = append(b, `],"done":`...)
	return append(append(b, done...), '}')
}

// abandon answers the outstanding calls when the session has ended.
func (s *server) abandon(batch [][]byte) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	var open []protocol.RequestID
	for id, c := range s.calls {
		if c.rpc != nil && !c.told {
			open = append(open, id)
		}
	}
	slices.Sort(open)
	for _, id := range open {
		batch = append(batch, refuse(s.calls[id].rpc, failure(codeEnded, "the session has ended")))
	}
	return batch
}
