// Package sessiontest provides a session with scripted answers, for tests of front ends.
package sessiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"sdm/master/session"
	"sdm/protocol"
)

// Tape is a Session that plays scenes instead of debugging. Each call plays the next scene,
// whatever its command; Calls returns the calls so far. All methods may be called from any
// goroutine.
type Tape struct {
	stream *session.Stream

	mu     sync.Mutex
	scenes []Scene
	calls  []session.Call
}

// Scene is the effect of one call.
type Scene struct {
	// Refuse is the error of the call, which then has no number and no events.
	Refuse *protocol.Fault
	// Events are sent in order. Replies, errors, missing and done without a number get the number
	// and command of the call; a done is added if there is none.
	Events []session.Event
	// Open tells that the done of the call is in a later scene.
	Open bool
}

// NewTape makes a session of these scenes. Calls after the last are refused.
func NewTape(scenes ...Scene) *Tape {
	return &Tape{stream: session.NewStream(), scenes: scenes}
}

// ReadTape makes a session from text. A line "> TEXT" begins the scene of the next call (the text
// is a comment), a line "! MESSAGE" (or "! " and a fault in JSON) refuses the call, a line "..." leaves
// it open, any other line is an event in JSON. Events before the first scene are sent at once. Empty lines and lines
// that begin with # are ignored.
func ReadTape(text string) (*Tape, error) {
	scenes := []Scene{{}} // the first one belongs to no call
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '>' {
			scenes = append(scenes, Scene{})
			continue
		}
		if err := scenes[len(scenes)-1].add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	t := NewTape(scenes[1:]...)
	t.Emit(scenes[0].Events...)
	return t, nil
}

func (s *Scene) add(line string) error {
	if line == "..." {
		s.Open = true
		return nil
	}
	if message, ok := strings.CutPrefix(line, "!"); ok {
		s.Refuse = &protocol.Fault{Kind: protocol.FaultUsage, Message: strings.TrimSpace(message)}
		if strings.HasPrefix(s.Refuse.Message, "{") {
			return json.Unmarshal([]byte(s.Refuse.Message), s.Refuse)
		}
		return nil
	}
	var e session.Event
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		return err
	}
	s.Events = append(s.Events, e)
	return nil
}

// Do plays the next scene.
func (t *Tape) Do(_ context.Context, c session.Call) (protocol.RequestID, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, c)
	if len(t.scenes) == 0 {
		return 0, &protocol.Fault{Kind: protocol.FaultUsage, Message: "the tape has ended"}
	}
	scene := t.scenes[0]
	t.scenes = t.scenes[1:]
	if scene.Refuse != nil {
		return 0, scene.Refuse
	}
	id := protocol.RequestID(len(t.calls))
	t.stream.Push(scene.play(id, c.Command)...)
	return id, nil
}

// play returns the events, those that answer the call with its number.
func (s Scene) play(id protocol.RequestID, command string) []session.Event {
	var events []session.Event
	done := s.Open
	asked := 0
	for _, e := range s.Events {
		if e.ID == 0 && (e.Done != nil || e.Group.Kind == protocol.KindResult ||
			e.Group.Kind == protocol.KindFault || e.Group.Kind == protocol.KindMissing) {
			e.ID, e.Command = id, command
			asked += e.Group.Ranks.Len()
		}
		done = done || e.Done != nil
		events = append(events, e)
	}
	if !done {
		end := session.Event{Name: session.DoneName, ID: id, Command: command,
			Done: &session.Done{Asked: asked, Answered: asked}}
		events = append(events, end)
	}
	return events
}

// Emit sends unsolicited events.
func (t *Tape) Emit(events ...session.Event) { t.stream.Push(events...) }

// Events returns the stream of the scenes' events.
func (t *Tape) Events() <-chan session.Event { return t.stream.Events() }

// Close ends the stream.
func (t *Tape) Close(ctx context.Context) error {
	t.stream.End(ctx)
	return nil
}

// Calls returns the calls so far.
func (t *Tape) Calls() []session.Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]session.Call(nil), t.calls...)
}
