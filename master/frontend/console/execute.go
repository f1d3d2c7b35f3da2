// Execution of a line.

package console

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// source is the origin of a line.
type source struct {
	at     func(error) error // adds the position to an error
	prompt bool              // typed at the prompt
}

// executeLine executes one line.
func (c *console) executeLine(line string, from source) {
	if c.question != nil {
		c.answered(line)
		return
	}
	if c.block != nil {
		c.echoed(line, from)
		c.addToBlock(line)
		return
	}
	clear(c.completions.known) // a command may change the names
	cmd, ok, err := language.Parse(line)
	if !ok && err == nil {
		if cmd, ok = repeated(c.last, line, from); !ok {
			return
		}
	}
	if err == nil {
		if cmd.Name != language.Wait { // wait expects further events
			c.writeHeld() // effects of earlier commands
		}
		c.echoed(line, from)
		err = c.execute(cmd, from)
	}
	if err != nil {
		c.mistake(from.at(err))
		return
	}
	if from.prompt {
		c.last = cmd
	}
}

// echoed writes a line as it would be seen when typed.
func (c *console) echoed(line string, from source) {
	if c.cfg.Echo && !from.prompt && c.cfg.Format == Text {
		c.print(c.prompt() + strings.TrimSpace(line) + "\n")
	}
}

// repeated returns the last command for an empty line at the prompt.
func repeated(last language.Command, line string, from source) (language.Command, bool) {
	if !from.prompt || strings.TrimSpace(line) != "" || !last.Repeat {
		return language.Command{}, false
	}
	cmd := last
	if cmd.Name == "list" && cmd.Page == 0 { // as GDB: continue after it
		cmd.Page = 1
	}
	return cmd, true
}

// mistake reports an invalid command. At a prompt it ends scripts; otherwise it counts as a command
// that has failed.
func (c *console) mistake(err error) {
	if c.cfg.Interactive {
		c.scripts = nil
		c.complain(err.Error())
		return
	}
	c.complain("sdm: " + err.Error())
	c.fail(errMistake)
}

// errMistake ends a script with StopOnError after an invalid command.
var errMistake = errors.New("no further command is executed (--stop-on-error)")

// execute executes one command, or begins to.
func (c *console) execute(cmd language.Command, from source) error {
	switch cmd.Name {
	case language.Leave:
		if !c.shared {
			return &protocol.Fault{Kind: protocol.FaultState, Op: "leave", Message: "the session ends with this console", Hint: "quit ends it; sdm run and sdm attach at a terminal, or with --keep, start one that can be left"}
		}
		c.leave()
	case language.Quit:
		if err := c.refuseQuit(); err != nil && !(from.prompt && c.cfg.Interactive) {
			return err
		}
		end := func() { c.ended, c.status, c.chosen = true, Status(cmd.Number), cmd.Rest != "" }
		if !from.prompt || c.confirmed(end) {
			end()
		}
	case language.SetConfirm:
		c.unasked = cmd.Number == 0
	case language.ShowConfirm:
		c.say("Whether to confirm potentially dangerous operations is " + choose(c.unasked, "off", "on") + ".")
	case language.SetWait:
		c.wait = cmd.For
	case language.SetListsize:
		c.lister.size = cmd.Number
	case language.ShowListsize:
		c.say("list shows " + text.Plural(c.lister.size, "line") + " at a time.")
	case language.SetHeight, language.ShowHeight, language.SetWidth, language.ShowWidth,
		language.SetPagination, language.ShowPagination:
		c.setPaging(cmd)
	case language.SetEcho:
		c.cfg.Echo = cmd.Number == 1
	case language.SetBreakpoint:
		if cmd.Do != "" {
			return c.ask(cmd, from)
		}
		c.pending = cmd.Pending
	case language.ShowBreakpoint:
		c.say("Debugger's behavior regarding pending breakpoints is " + c.pending.String() + ".")
	case language.Commands:
		c.block = &block{cmd: cmd, from: from}
	case language.Echo:
		c.echo(cmd.Text)
	case language.Help:
		s, err := language.HelpText(cmd.Text)
		if err == nil {
			c.say(strings.TrimRight(s, "\n"))
		}
		return err
	case language.Source:
		c.source(cmd.Text, from)
	case language.Shell:
		return c.shell(cmd.Text)
	case language.Wait:
		return c.waitFor(cmd)
	case language.Focus:
		return c.focusOn(cmd, from)
	case language.Expand:
		return c.expand(cmd.Number, from.prompt)
	default:
		return c.ask(cmd, from)
	}
	return nil
}

// ask sends a command to the ranks and sets what is awaited before the next one.
func (c *console) ask(cmd language.Command, from source) error {
	s := session.Call{Command: cmd.Do, Ranks: c.ranks(cmd), Wait: cmp.Or(cmd.Wait, c.wait), Args: cmd.Args}
	if cmd.Name == "list" {
		c.lister.page(&s.Args, cmd.Page)
	}
	if slices.Contains([]string{"list", "break", "clear"}, cmd.Do) {
		c.lister.inListed(&s.Args)
	}
	if cmd.Do == "run" && cmd.Wait == 0 { // without limit, as for Start
		s.Wait = language.NoLimit
	}
	pending := c.pending
	if cmd.With != nil {
		pending = *cmd.With
	}
	if cmd.Do == "break" {
		s.Args.Pending = pending == language.PendingOn
	}
	// print --all
	x := &call{asked: text.Asked{Label: cmd.Label, Format: cmd.Args.Format, Full: cmd.Args.Limit < 0, Export: cmd.Export,
		Explain: cmd.Args.Explain}, cmd: cmd, from: from, typed: from.prompt}
	if cmd.File != "" {
		x.quiet, x.then = c.cfg.Format == Text, c.export
	}
	if cmd.Do == "values" {
		if err := c.askValues(cmd, &s, x); err != nil {
			return err
		}
	}
	if cmd.Do == "break" && pending == language.PendingAuto {
		x.undecided, x.then = true, func(x *call) { c.makePending(x, s) }
	}
	if cmd.Do == "ranks" && from.prompt && c.cfg.Format == Text {
		x.then = func(*call) { c.showUsage(s.Ranks) }
	}
	if err := c.begin(x, s); err != nil {
		return err
	}
	if cmd.Do == "barrier" {
		c.barriers = append(c.barriers, &barrierStops{call: x})
	}
	if cmd.Background && from.prompt {
		return nil
	}
	// With &, a script continues when the ranks run, and not before, because its next commands are
	// for running ranks.
	if c.await = (await{call: x}); !from.prompt && !cmd.Background {
		c.awaitStops(x)
	}
	if cmd.Do == "interrupt" && !from.prompt {
		x.then = func(x *call) { c.await.quiet, c.await.ranks = true, x.results }
	}
	return nil
}

// showUsage shows the resource usage after the states of ranks.
func (c *console) showUsage(ranks string) {
	// next tells if the session has ended
	_ = c.beginAwaited(&call{}, session.Call{Command: "usage", Ranks: ranks, Wait: c.wait})
}

// ranks returns the text of the set that a command addresses. Without an explicit set it is the
// focus; if only some of that are stopped, commands for stopped ranks address these, and the user
// is told so once.
func (c *console) ranks(cmd language.Command) string {
	if cmd.Set != "" || cmd.Name == language.Save {
		return cmd.Set
	}
	run := c.busy().Intersect(c.focus)
	stopped := c.states.In(session.Stopped).Intersect(c.focus).Minus(run)
	if run.IsEmpty() || stopped.IsEmpty() {
		c.toldPart = false
		return c.setText(c.focus)
	}
	if info, ok := protocol.LookupCommand(cmd.Do); !ok || info.Need != protocol.NeedStopped || cmd.Args.Samples != 0 {
		return c.setText(c.focus)
	}
	if !c.toldPart {
		c.toldPart = true
		c.say("[" + text.Ranks(run) + "] " + choose(run.Len() == 1, "runs", "run") + ": commands for stopped ranks go to [" + text.Ranks(stopped) + "]")
	}
	return c.setText(stopped)
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// callOn returns a call of the console itself on some ranks.
func (c *console) callOn(ranks rank.Set, name string) session.Call {
	return session.Call{Command: name, Ranks: c.setText(ranks), Wait: c.wait}
}
