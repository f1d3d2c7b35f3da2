// Writing for the user.

package console

import (
	"slices"
	"strings"

	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/canonical"
)

// screen writes answers, messages and errors: text for a user, or NDJSON.
type screen struct {
	cfg      *Config
	progress progress
	pager    pager
	flush    func() // writes the events that are held, which no other text may overtake
}

// print writes text for the user, above the prompt if there is one.
func (s *screen) print(text string) {
	if text != "" {
		s.flush()
		s.progress.clear()
		s.cfg.Out.Write([]byte(text))
	}
}

// say writes a message of the console itself.
func (s *screen) say(text string) {
	if s.cfg.Format == NDJSON {
		s.emit(protocol.KindNote, protocol.Note{Text: text})
		return
	}
	s.print(text + "\n")
}

// complain writes an error of the user or of the console.
func (s *screen) complain(text string) {
	s.flush()
	s.progress.clear()
	if s.cfg.Format == NDJSON {
		s.emit(protocol.KindFault, protocol.Fault{Kind: protocol.FaultUsage, Message: text})
		if s.cfg.Interactive {
			return
		}
	}
	s.cfg.Err.Write([]byte(text + "\n"))
}

// emit writes an event of the console itself, in the form of the session's events.
func (s *screen) emit(k protocol.Kind, body any) {
	e := session.NewEvent(protocol.Group{Kind: k, Body: canonical.JSON(body)})
	s.cfg.Out.Write(append(e.AppendJSON(nil), '\n'))
}

// echo writes a text as it is, without adding a newline, as GDB does.
func (s *screen) echo(text string) {
	if s.cfg.Format == NDJSON {
		s.say(strings.TrimSuffix(text, "\n"))
		return
	}
	if s.cfg.Interactive && !strings.HasSuffix(text, "\n") {
		text += "\n" // the prompt would overwrite it
	}
	s.print(text)
}

// answersText returns the text of answers, and whether expand would show more.
func (s *screen) answersText(a text.Asked, groups []protocol.Group, states *session.States) (out string, short bool) {
	if slices.ContainsFunc(groups, func(g protocol.Group) bool {
		return g.Kind == protocol.KindFault ||
			g.Kind == protocol.KindLost
	}) {
		a.Gone = states.Groups(states.Ended())
	}
	out = s.text(a.Command, func() (out string) {
		out, short = s.cfg.Writer.Answers(a, groups)
		return out
	})
	return out, short
}

// text returns the result of do, or the message of a panic in it.
func (s *screen) text(op string, do func() string) (out string) {
	if bad, stack := protocol.Guard(op, func() { out = do() }); bad != nil {
		return s.defect(bad, stack) + "\n"
	}
	return out
}

// defect logs a panic and returns the message for the user.
func (s *screen) defect(bad *protocol.Fault, stack []byte) string {
	if s.cfg.Log != nil {
		s.cfg.Log.Error(bad.Message+": "+protocol.Report, "command", bad.Op, "stack", string(stack))
	}
	return "sdm: " + bad.Error()
}
