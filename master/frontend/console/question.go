// Questions at the prompt, and the one before ranks are killed.

package console

import (
	"strings"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol/rank"
)

// question is answered by the next line: y or n.
type question struct {
	text    string
	choices string // "y or n", or "y or [n]" if an empty line is n
	yes     func()
	// ends: it is about the end of the session: a second quit, or the end of the input, is a yes.
	ends bool
	// leave is called for the answer l; nil: l is no answer.
	leave func()
}

func (q *question) prompt() string { return q.text + " (" + q.choices + ") " }

// answered processes the answer to the question.
func (c *console) answered(line string) {
	q, word := c.question, strings.ToLower(strings.TrimSpace(line))
	no := word == "" && strings.Contains(q.choices, "[n]") || word != "" && strings.HasPrefix("no", word)
	yes := word != "" && strings.HasPrefix("yes", word)
	if q.ends && !yes {
		cmd, ok, err := language.Parse(line)
		yes = ok && err == nil && cmd.Name == language.Quit
	}
	switch {
	case q.leave != nil && word != "" && strings.HasPrefix("leave", word):
		c.question = nil
		q.leave()
	case no:
		c.question = nil
	case yes:
		c.question = nil
		q.yes()
	default:
		c.say("Please answer " + q.choices + ".")
	}
}

// confirmed reports whether the session may end by a line or key typed at the prompt; otherwise it asks, as gdb
// does: ranks are alive that would be killed, or others are here. Scripts and programs that read JSON are not asked.
func (c *console) confirmed(end func()) bool {
	alive := c.states.In(session.Starting, session.Running, session.Stopped)
	if c.cfg.AtEnd != AtEndKilled {
		alive = rank.Set{}
	}
	if !c.cfg.Interactive || c.unasked || c.cfg.Format == NDJSON || alive.IsEmpty() && len(c.others) == 0 {
		return true
	}
	about := "A debugging session is active.\n\n"
	if !alive.IsEmpty() {
		about += "\t[" + text.Ranks(alive) + "] will be killed.\n"
	}
	if len(c.others) > 0 {
		about += "\t" + text.FrontEnds(c.others) + " will lose it.\n"
	}
	c.say(about)
	c.question = &question{text: "Quit anyway?", choices: "y or n", yes: end, ends: true}
	if c.shared {
		c.question.choices, c.question.leave = "y, n, or leave and come back later", c.leave
	}
	return false
}

// inputEnded processes the end of typed or piped lines, as Ctrl-D at the prompt: it is quit.
func (c *console) inputEnded() {
	asked := c.question != nil && c.question.ends
	c.question = nil
	c.reportOpenBlock()
	if asked || c.confirmed(c.done) {
		c.done()
	}
}

// leave ends the console, and the session goes on.
func (c *console) leave() {
	c.say(c.back())
	c.ended, c.left = true, true
}
