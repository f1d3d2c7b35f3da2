package console

import (
	"errors"
	"slices"
	"strings"
	"time"

	"sdm/master/frontend/console/command"
	"sdm/master/frontend/console/text"
	"sdm/master/session"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// source is where a line came from.
type source struct {
	at     func(error) error // says where a mistake is
	prompt bool              // a person typed it
}

// obey carries out one line; a panic costs that line.
func (c *console) obey(line string, from source) {
	c.guard(line, func() { c.carryOut(line, from) })
}

// carryOut carries out one line.
func (c *console) carryOut(line string, from source) {
	if c.question != nil {
		c.answered(line)
		return
	}
	if c.block != nil {
		c.echoed(line, from)
		c.gather(line)
		return
	}
	clear(c.completions.known) // what a command does may change what there is
	cmd, ok, err := command.Parse(line)
	if !ok && err == nil {
		if cmd, ok = c.repeated(line, from); !ok {
			return
		}
	}
	if err == nil {
		if cmd.Name != command.Wait { // which waits for more of the same
			c.letGo() // what earlier commands have brought about
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

// echoed writes a line as if somebody had typed it.
func (c *console) echoed(line string, from source) {
	if c.cfg.Echo && !from.prompt && c.cfg.Format == Text {
		c.print(c.prompt() + strings.TrimSpace(line) + "\n")
	}
}

// repeated gives the last command for an empty line at the prompt.
func (c *console) repeated(line string, from source) (command.Command, bool) {
	if !from.prompt || strings.TrimSpace(line) != "" || !c.last.Repeat {
		return command.Command{}, false
	}
	cmd := c.last
	if cmd.Name == "list" && cmd.Page == 0 { // as GDB: go on behind it
		cmd.Page = 1
	}
	return cmd, true
}

// mistake says what makes no sense. Where a person can type something better it
// ends scripts; without one it is a command that failed.
func (c *console) mistake(err error) {
	if c.cfg.Interactive {
		c.scripts = nil
		c.complain(err.Error())
		return
	}
	c.complain("sdm: " + err.Error())
	c.fail(errMistake)
}

// errMistake ends a script of StopOnError behind the mistake.
var errMistake = errors.New("no further command is carried out (--stop-on-error)")

// execute carries out one command, or begins to.
func (c *console) execute(cmd command.Command, from source) error {
	switch cmd.Name {
	case command.Quit:
		c.ended, c.status, c.chosen = true, Status(cmd.Number), cmd.Rest != ""
	case command.SetWait:
		c.wait = cmd.For
	case command.SetListsize:
		c.listSize = cmd.Number
	case command.ShowListsize:
		c.say("list shows " + plural(c.listSize, "line") + " at a time.")
	case command.SetHeight, command.ShowHeight, command.SetPagination, command.ShowPagination:
		c.setPaging(cmd)
	case command.SetEcho:
		c.cfg.Echo = cmd.Number == 1
	case command.SetBreakpoint:
		if cmd.Do != "" {
			return c.ask(cmd, from)
		}
		c.pending = cmd.Pending
	case command.ShowBreakpoint:
		c.say("Debugger's behavior regarding pending breakpoints is " + c.pending.String() + ".")
	case command.Commands:
		c.block = &block{cmd: cmd, from: from}
	case command.Echo:
		c.echo(cmd.Text)
	case command.Help:
		return c.help(cmd.Text)
	case command.Source:
		return c.source(cmd.Text)
	case command.Shell:
		return c.shell(cmd.Text)
	case command.Wait:
		return c.waitFor(cmd)
	case command.Focus:
		return c.focusOn(cmd, from)
	case command.Expand:
		return c.expand(cmd.Number, from.prompt)
	default:
		return c.ask(cmd, from)
	}
	return nil
}

// ask hands a command to the ranks and says what is to be awaited before the
// next one.
func (c *console) ask(cmd command.Command, from source) error {
	s := session.Call{Command: cmd.Do, Ranks: c.ranks(cmd), Wait: c.waitOf(cmd), Args: cmd.Args}
	if cmd.Name == "list" {
		c.page(&s.Args, cmd.Page)
	}
	if slices.Contains([]string{"list", "break", "clear"}, cmd.Do) {
		c.inListed(&s.Args)
	}
	if cmd.Do == "run" && cmd.Wait == 0 { // as long as it takes, as at the beginning
		s.Wait = command.NoLimit
	}
	pending := c.pending
	if cmd.With != nil {
		pending = *cmd.With
	}
	if cmd.Do == "break" {
		s.Args.Pending = pending == command.PendingOn
	}
	x := &call{asked: text.Asked{Label: cmd.Label, Format: cmd.Args.Format, Full: cmd.Args.Limit < 0, Export: cmd.Export}, cmd: cmd, from: from, typed: from.prompt} // print --all
	if cmd.File != "" {
		x.quiet, x.then = c.cfg.Format == Text, c.export
	}
	if cmd.Name == command.Save {
		x.then = c.save
	}
	if cmd.Do == "break" && pending == command.PendingAuto {
		x.perhaps, x.then = true, func(x *call) { c.makePending(x, s) }
	}
	if cmd.Do == "ranks" && from.prompt && c.cfg.Format == Text {
		x.then = func(*call) { c.showUsage(s.Ranks) }
	}
	if err := c.begin(x, s); err != nil {
		return err
	}
	if cmd.Do == "barrier" {
		c.barriers = append(c.barriers, &gathering{call: x})
	}
	if cmd.Background && from.prompt {
		return nil
	}
	// With & a script goes on when the ranks run, and not before: what it does
	// next is meant for running ranks.
	if c.await = (await{call: x}); !from.prompt && !cmd.Background {
		c.awaitStops(x)
	}
	if cmd.Do == "interrupt" && !from.prompt {
		x.then = func(x *call) { c.await.quiet, c.await.ranks = true, x.results }
	}
	return nil
}

// showUsage adds to the states of ranks what they use.
func (c *console) showUsage(ranks string) {
	x := &call{}
	if c.begin(x, session.Call{Command: "usage", Ranks: ranks, Wait: c.wait}) == nil {
		c.await = await{call: x}
	}
}

// ranks gives the text of the set that a command goes to. Without one in front it is
// the focus; of that those that stand, where some run and the command is for ranks that
// stand, which is said once.
func (c *console) ranks(cmd command.Command) string {
	if cmd.Set != "" || cmd.Name == command.Save {
		return cmd.Set
	}
	run := c.busy().Intersect(c.focus)
	stand := c.states.In(session.Stopped).Intersect(c.focus).Minus(run)
	if run.IsEmpty() || stand.IsEmpty() {
		c.parted = false
		return c.setText(c.focus)
	}
	if info, ok := protocol.LookupCommand(cmd.Do); !ok || info.Need != protocol.NeedStopped || cmd.Args.Samples != 0 {
		return c.setText(c.focus)
	}
	if !c.parted {
		c.parted = true
		c.say("[" + text.Ranks(run) + "] " + choose(run.Len() == 1, "runs", "run") + ": commands for ranks that stand go to [" + text.Ranks(stand) + "]")
	}
	return c.setText(stand)
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func (c *console) setText(s rank.Set) string {
	if s.Equal(c.cfg.All) {
		return "" // the same, and shorter
	}
	return s.String()
}

func (c *console) waitOf(cmd command.Command) time.Duration {
	if cmd.Wait != 0 {
		return cmd.Wait
	}
	return c.wait
}

// callOn makes a call of ours on some ranks.
func (c *console) callOn(ranks rank.Set, name string) session.Call {
	return session.Call{Command: name, Ranks: c.setText(ranks), Wait: c.wait}
}
