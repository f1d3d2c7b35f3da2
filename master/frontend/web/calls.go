// Calls of the session: what a page may ask, and what is answered.

package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"sdm/master/hangfile"
	"sdm/master/hangfile/report"
	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/master/verdict"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// offered are the commands of the page and what they require. Others are refused: a look must not be able to call
// functions of the program, which some commands do that only show something.
var offered = []struct {
	command string
	needs   protocol.Permission
}{
	{"stacks", protocol.Look}, {"ranks", protocol.Look}, {"backtrace", protocol.Look}, {"list", protocol.Look},
	{"print", protocol.Look}, {"stat", protocol.Look}, {"diff", protocol.Look},
	{"info locals", protocol.Look}, {"info args", protocol.Look}, {"info threads", protocol.Look},
	{"info breakpoints", protocol.Look}, {"info hosts", protocol.Look}, {"usage", protocol.Look}, {"focus", protocol.Look},
	{"info output", protocol.Look}, {"info file", protocol.Look},
	{"interrupt", protocol.Steer}, {"continue", protocol.Steer}, {"break", protocol.Steer}, {"delete", protocol.Steer},
	{"enable", protocol.Steer}, {"disable", protocol.Steer},
}

// request is what a page asks.
type request struct {
	Command string        `json:"command"`
	Line    string        `json:"line"` // of the prompt, in place of a command
	Ranks   string        `json:"ranks"`
	Args    protocol.Args `json:"args"`
	// Wait is how long ranks may take, in seconds; 0 is the wait of the session.
	Wait float64 `json:"wait"`
}

// callFor returns the call for what a page asks, or why it is refused.
func callFor(r request, allow protocol.Permission) (c session.Call, err error) {
	for _, o := range offered {
		if o.command != r.Command {
			continue
		}
		info, known := protocol.LookupCommand(r.Command)
		if !known {
			break
		}
		if needs := max(o.needs, protocol.PermissionFor(info, r.Args)); needs > allow {
			return c, fmt.Errorf("%s is not allowed to this page (sdm web --allow steer allows it)", r.Command)
		}
		if r.Wait < 0 || r.Wait > maxCallTime.Seconds() {
			return c, fmt.Errorf("wait: 0 to %v seconds", maxCallTime.Seconds())
		}
		r.Args.Pure = info.Takes("pure") // nothing may change
		wait := time.Duration(r.Wait * float64(time.Second))
		return session.Call{Command: r.Command, Ranks: r.Ranks, Wait: wait, Args: r.Args}, nil
	}
	return c, fmt.Errorf("%q is no command of the page", protocol.Clip(r.Command))
}

// lineFor returns the call for a line of the prompt, or why there is none. Its ranks are those of the request unless it
// begins with others.
func lineFor(r request, allow protocol.Permission) (c session.Call, err error) {
	if allow < protocol.Change {
		return c, errors.New("a command line is not allowed to this page (sdm web --allow change allows it)")
	}
	cmd, err := language.ParseOne(r.Line)
	if err != nil {
		return c, err
	}
	if why := cmd.PromptOnly(); why != "" {
		return c, errors.New(why + " (sdm join has it)")
	}
	return session.Call{Command: cmd.Do, Ranks: cmp.Or(cmd.Set, r.Ranks), Args: cmd.Args, Wait: cmd.Wait}, nil
}

// maxAnswer bounds the answers to a call, in bytes.
const maxAnswer = 16 << 20

// call is a call of the session whose answers are being collected.
type call struct {
	groups  []protocol.Group
	bytes   int
	leftOff int // groups beyond maxAnswer
	end     *session.Done
	ended   chan struct{} // closed with the end
	claimed bool          // its number is known
}

// add adds an answer, or the end.
func (c *call) add(e session.Event) {
	switch size := e.Group.Size(); {
	case c.end != nil || e.Late:
	case e.Done != nil:
		c.end = e.Done
		close(c.ended)
	case c.bytes+size > maxAnswer:
		c.leftOff++
	default:
		c.groups = append(c.groups, e.Group)
		c.bytes += size
	}
}

// answerJSON is the answer to a call.
type answerJSON struct {
	ID   protocol.RequestID `json:"id"`
	Text string             `json:"text"` // as the console has it
	// Events are the answers, but those to stacks.
	Events []session.Event `json:"events,omitempty"`
	Stack  []*frameJSON    `json:"stack,omitempty"`  // the stacks of all
	Frames int             `json:"frames,omitempty"` // that are not in Stack
	Waits  []waitJSON      `json:"waits,omitempty"`  // what they wait for
	Graph  *report.Drawing `json:"graph,omitempty"`  // of the same
	// LeftOff is the number of groups of answers that were too much.
	LeftOff int            `json:"left_off,omitempty"`
	Done    *session.Event `json:"done"`
}

// waitJSON is what some ranks do, and for whom they wait.
type waitJSON struct {
	Ranks rank.Set `json:"ranks"`
	N     int      `json:"n"`
	Text  string   `json:"text"`
	For   rank.Set `json:"for,omitzero"`
}

// maxRows bounds the rows of what ranks wait for.
const maxRows = 4096

// answer returns the JSON of the answers to a call that has ended.
func (c *call) answer(id protocol.RequestID, command string, all rank.Set) ([]byte, error) {
	w := text.Writer{All: all, Terminal: true}
	a := answerJSON{ID: id, LeftOff: c.leftOff,
		Done: &session.Event{Name: session.DoneName, ID: id, Command: command, Done: c.end}}
	slices.SortStableFunc(c.groups, func(g, h protocol.Group) int { return h.Ranks.Len() - g.Ranks.Len() })
	a.Text, _ = w.Answers(text.Asked{Command: command}, c.groups)
	if command != "stacks" {
		for _, g := range c.groups {
			e := session.NewEvent(g)
			e.ID, e.Command = id, command
			a.Events = append(a.Events, e)
		}
		return json.Marshal(a)
	}
	a.Stack, a.Frames = framesOf(c.groups)
	if g, _ := verdict.GraphOf(c.groups, rank.Set{}); !g.IsEmpty() {
		a.showWaits(hangfile.RowsOf(g), c.end.Verdict)
	}
	return json.Marshal(a)
}

// showWaits adds what ranks wait for.
func (a *answerJSON) showWaits(rows []hangfile.Row, verdict []session.Finding) {
	for _, r := range rows[:min(len(rows), maxRows)] {
		a.Waits = append(a.Waits, waitJSON{r.Ranks, r.Ranks.Len(), r.Text, r.For})
	}
	a.LeftOff += max(0, len(rows)-maxRows)
	var found []hangfile.Finding
	for _, f := range verdict {
		found = append(found, hangfile.Finding(f))
	}
	a.Graph = report.Draw(rows, found)
}

// maxCallTime bounds a call; then it is cancelled.
const maxCallTime = 2 * time.Minute
