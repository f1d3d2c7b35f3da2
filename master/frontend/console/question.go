// Questions at the prompt, and the one before ranks are killed.

package console

import (
	"strings"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
)

// question is answered by the next line: y or n.
type question struct {
	text    string
	choices string // "y or n", or "y or [n]" if an empty line is n
	yes     func()
	// leaves: it is about the end of the session; who says quit again, or ends the input, says yes.
	leaves bool
}

func (q *question) prompt() string { return q.text + " (" + q.choices + ") " }

// answered processes the answer to the question.
func (c *console) answered(line string) {
	q, word := c.question, strings.ToLower(strings.TrimSpace(line))
	no := word == "" && q.choices != "y or n" || word != "" && strings.HasPrefix("no", word)
	yes := word != "" && strings.HasPrefix("yes", word)
	if q.leaves && !yes {
		cmd, ok, err := language.Parse(line)
		yes = ok && err == nil && cmd.Name == language.Quit
	}
	switch {
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
// does: ranks are alive that would be killed. Scripts and programs that read JSON are not asked.
func (c *console) confirmed(end func()) bool {
	alive := c.states.In(session.Starting, session.Running, session.Stopped)
	if !c.cfg.Interactive || c.unasked || c.cfg.AtEnd != AtEndKilled || c.cfg.Format == NDJSON || alive.IsEmpty() {
		return true
	}
	c.say("A debugging session is active.\n\n\t[" + text.Ranks(alive) + "] will be killed.\n")
	c.question = &question{text: "Quit anyway?", choices: "y or n", yes: end, leaves: true}
	return false
}

// inputEnded processes the end of typed or piped lines, as Ctrl-D at the prompt: it is quit.
func (c *console) inputEnded() {
	asked := c.question != nil && c.question.leaves
	c.question = nil
	c.reportOpenBlock()
	if asked || c.confirmed(c.done) {
		c.done()
	}
}
