// Programs that cannot be debugged in the session.

package master

import (
	"encoding/json"

	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// programs records for each program whether it can be debugged in the session.
type programs struct {
	ask   func(program string) error // nil: every program can
	known map[string]error
	// warned are the programs that the user has been warned about.
	warned map[string]bool
}

// check returns why a program cannot be debugged. "" is one that the starter has chosen, which is
// checked when it has been started.
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

// warn returns a note about a started program, the first time.
func (p *programs) warn(started protocol.Group) []session.Event {
	var s protocol.Started
	if p.ask == nil || json.Unmarshal(started.Body, &s) != nil || s.Attached { // it runs already
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
