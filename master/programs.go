package master

import (
	"encoding/json"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// programs asks once about each program whether it can run in the session.
type programs struct {
	ask   func(program string) error // nil: every program can
	known map[string]error
	// warned are those that the person has been warned of.
	warned map[string]bool
}

// check says why a program cannot run; "" is one that the starter chose, which
// is seen when it has been started.
func (p *programs) check(program string) error {
	if p.ask == nil || program == "" {
		return nil
	}
	err, asked := p.known[program]
	if !asked {
		err = p.ask(program)
		p.known[program] = err
	}
	return err
}

// warn gives a note about a program that was started, the first time.
func (p *programs) warn(started protocol.Group) []session.Event {
	var s protocol.Started
	if p.ask == nil || json.Unmarshal(started.Body, &s) != nil || s.Attached { // it has run without us
		return nil
	}
	err := p.check(s.Program)
	if err == nil || p.warned[s.Program] {
		return nil
	}
	if p.warned == nil {
		p.warned = map[string]bool{}
	}
	p.warned[s.Program] = true
	return []session.Event{session.NewEvent(protocol.Group{
		Kind: protocol.KindNote, Ranks: started.Ranks, Body: canonical.JSON(protocol.Note{Text: err.Error()}),
	})}
}
