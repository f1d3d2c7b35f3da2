// Commands that apply also to ranks that start later.

package master

import (
	"encoding/json"
	"fmt"
	"slices"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

// persistentCommands holds commands about breakpoints, signals, displays and settings of gdb, in
// order, with their ranks. Ranks that start later, or again, execute them first. Breakpoints and
// displays have the same numbers on all ranks. It is pure.
type persistentCommands struct {
	list []persistentCommand
}

type persistentCommand struct {
	id      protocol.RequestID
	ranks   rank.Set
	command protocol.Command
}

// makesPoint reports whether a command makes a breakpoint of any kind that remains: a barrier is
// about the run that it begins.
func makesPoint(command string) bool {
	info, _ := protocol.LookupCommand(command)
	return info.MakesPoint() && !info.Resumes
}

// changesPoints reports whether a command changes existing breakpoints.
func changesPoints(command string) bool {
	info, _ := protocol.LookupCommand(command)
	return info.ChangesPoints()
}

// isDisplay reports whether a command is about displays.
func isDisplay(command string) bool {
	info, _ := protocol.LookupCommand(command)
	return info.Object == protocol.Displays
}

// makesDisplay reports whether a command makes a display; without an expression it shows all.
func makesDisplay(info protocol.CommandInfo, a protocol.Args) bool {
	return info.Object == protocol.Displays && info.Effect == protocol.Makes && a.Expr != ""
}

// record records a command to ranks; waiting are the ones that have not started.
func (g *persistentCommands) record(id protocol.RequestID, name string, a protocol.Args, ranks, waiting rank.Set) {
	info, _ := protocol.LookupCommand(name)
	removes := info.Effect == protocol.Removes
	switch {
	case removes && info.Takes("breakpoints") && len(a.Breakpoints) == 0:
		g.drop(ranks, func(c protocol.Command) bool { return makesPoint(c.Name) || changesPoints(c.Name) })
	case removes && info.Takes("breakpoints"):
		for _, n := range a.Breakpoints {
			g.forget(n, ranks)
		}
	case removes && info.Takes("displays"):
		g.drop(ranks, func(c protocol.Command) bool {
			return isDisplay(c.Name) && (len(a.Displays) == 0 || slices.Contains(a.Displays, c.Args.Display))
		})
	case name == "ignore": // gdb counts it down, so only for ranks that have not started
		g.change(id, name, a, waiting)
	case info.ChangesPoints():
		g.change(id, name, a, ranks)
	case name == "gdb" && protocol.IsSetting(a.Text):
		g.drop(ranks, func(c protocol.Command) bool { return c.Name == name && c.Args.Text == a.Text })
		g.add(id, name, a, ranks)
	case info.Object == protocol.Signals && info.Effect == protocol.Changes:
		g.drop(ranks, func(c protocol.Command) bool { return c.Name == name && c.Args.Signal == a.Signal })
		g.add(id, name, a, ranks)
	case makesPoint(name), makesDisplay(info, a):
		g.add(id, name, a, ranks)
	}
}

// change records a change of breakpoints, each by itself, and replaces earlier ones of its kind.
func (g *persistentCommands) change(id protocol.RequestID, name string, a protocol.Args, ranks rank.Set) {
	able := func(name string) bool { return name == "enable" || name == "disable" }
	for _, one := range a.PerBreakpoint() {
		all := len(one.Breakpoints)+len(one.Places) == 0
		g.drop(ranks, func(c protocol.Command) bool {
			same := slices.Equal(c.Args.Breakpoints, one.Breakpoints) && slices.Equal(c.Args.Places, one.Places)
			return same && c.Name == name || (same || all) && able(name) && able(c.Name) && (!all || len(c.Args.Places) == 0)
		})
		g.add(id, name, one, ranks)
	}
}

// countsDown reports whether there are breakpoints that are to be disabled after a number of stops.
func (g *persistentCommands) countsDown() bool {
	return slices.ContainsFunc(g.list, func(e persistentCommand) bool { return e.command.Args.Then == "disable" })
}

// reached counts down a breakpoint that is to be disabled after a number of stops.
func (g *persistentCommands) reached(number int, ranks rank.Set) {
	var next []persistentCommand
	for i, e := range g.list {
		those := e.ranks.Intersect(ranks)
		if e.command.Args.Then != "disable" || !e.command.Args.ChangesOnly(number) || those.IsEmpty() {
			continue
		}
		g.list[i].ranks = e.ranks.Minus(ranks)
		c := protocol.Command{Name: "disable", Args: protocol.Args{Breakpoints: []int{number}}}
		if left := max(e.command.Args.Count, 1) - 1; left > 0 {
			c = e.command
			c.Args.Count = left
		}
		next = append(next, persistentCommand{e.id, those, c})
	}
	g.list = append(slices.DeleteFunc(g.list, func(e persistentCommand) bool { return e.ranks.IsEmpty() }), next...)
}

func (g *persistentCommands) add(id protocol.RequestID, name string, a protocol.Args, ranks rank.Set) {
	if !ranks.IsEmpty() {
		g.list = append(g.list, persistentCommand{id, ranks, protocol.Command{Name: name, Args: a}})
	}
}

// forget drops all commands about one breakpoint, after it was deleted, or reached if it is
// temporary.
func (g *persistentCommands) forget(number int, ranks rank.Set) {
	g.drop(ranks, func(c protocol.Command) bool {
		return makesPoint(c.Name) && c.Args.Breakpoint == number || changesPoints(c.Name) && c.Args.ChangesOnly(number)
	})
}

// drop removes ranks from the commands that match.
func (g *persistentCommands) drop(ranks rank.Set, match func(protocol.Command) bool) {
	for i, e := range g.list {
		if match(e.command) {
			g.list[i].ranks = e.ranks.Minus(ranks)
		}
	}
	g.list = slices.DeleteFunc(g.list, func(e persistentCommand) bool { return e.ranks.IsEmpty() })
}

// refused removes the ranks that returned a fault to a request.
func (g *persistentCommands) refused(id protocol.RequestID, ranks rank.Set) {
	for i, e := range g.list {
		if e.id == id {
			g.list[i].ranks = e.ranks.Minus(ranks)
		}
	}
	g.list = slices.DeleteFunc(g.list, func(e persistentCommand) bool { return e.ranks.IsEmpty() })
}

// located records the answer to a break whose location was relative to where ranks stood: when they
// start again, they receive the location that was found.
func (g *persistentCommands) located(id protocol.RequestID, answer protocol.Group) {
	var body struct{ Breakpoints []protocol.BreakpointInfo }
	if json.Unmarshal(answer.Body, &body) != nil || len(body.Breakpoints) != 1 || body.Breakpoints[0].Again == "" {
		return
	}
	for i, e := range g.list {
		those := e.ranks.Intersect(answer.Ranks)
		if e.id != id || those.IsEmpty() {
			continue
		}
		found := persistentCommand{id, those, e.command}
		found.command.Args.Location = body.Breakpoints[0].Again
		g.list[i].ranks = e.ranks.Minus(those)
		g.list = slices.Insert(g.list, i, found)
		g.list = slices.DeleteFunc(g.list, func(e persistentCommand) bool { return e.ranks.IsEmpty() })
		return
	}
}

// commandsFor returns the commands for ranks that start now.
func (g *persistentCommands) commandsFor(ranks rank.Set) []protocol.Given {
	var all []protocol.Given
	for _, e := range g.list {
		if those := e.ranks.Intersect(ranks); !those.IsEmpty() {
			all = append(all, protocol.Given{Ranks: those, Command: e.command})
		}
	}
	g.drop(ranks, func(c protocol.Command) bool { return c.Name == "ignore" })
	return all
}

// answers returns the answers for ranks that have not started, as if they had the commands.
func (g *persistentCommands) answers(name string, a protocol.Args, waiting rank.Set) []protocol.Group {
	info, _ := protocol.LookupCommand(name)
	switch shows := info.Effect == protocol.Shows; {
	case makesPoint(name):
		return []protocol.Group{listed(waiting, infoOf(name, a))}
	case info.Object == protocol.Breakpoints && shows:
		var groups []protocol.Group
		for _, p := range g.subsets(waiting) {
			all := slices.DeleteFunc(p.breakpoints(), func(b protocol.BreakpointInfo) bool { return !a.Lists(name, b) })
			groups = append(groups, listed(p.ranks, all...))
		}
		return groups
	case name == "clear":
		var groups []protocol.Group
		for _, p := range g.subsets(waiting) {
			groups = append(groups, p.cleared(a.Location))
		}
		return groups
	case makesDisplay(info, a):
		return []protocol.Group{displayed(waiting, displayOf(name, a))}
	case info.Object == protocol.Displays && shows:
		var groups []protocol.Group
		for _, p := range g.subsets(waiting) {
			groups = append(groups, displayed(p.ranks, p.displays()...))
		}
		return groups
	case name == "ignore":
		return []protocol.Group{{Kind: protocol.KindResult, Ranks: waiting, Body: canonical.JSON(struct {
			Text string `json:"text"`
		}{fmt.Sprintf("Will ignore next %d crossings of breakpoint %d.", a.Count, a.Breakpoints[0])})}}
	}
	return []protocol.Group{{Kind: protocol.KindResult, Ranks: waiting, Body: []byte("{}")}}
}

func listed(ranks rank.Set, all ...protocol.BreakpointInfo) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: canonical.JSON(struct {
		Breakpoints []protocol.BreakpointInfo `json:"breakpoints"`
	}{append([]protocol.BreakpointInfo{}, all...)})}
}

func displayed(ranks rank.Set, all ...protocol.Display) protocol.Group {
	return protocol.Group{Kind: protocol.KindResult, Ranks: ranks, Body: canonical.JSON(struct {
		Displays []protocol.Display `json:"displays"`
	}{append([]protocol.Display{}, all...)})}
}

// subset is a set of ranks with the same persistent commands.
type subset struct {
	ranks    rank.Set
	commands []protocol.Command
}

// subsets divides ranks by their persistent commands.
func (g *persistentCommands) subsets(ranks rank.Set) []subset {
	all := []subset{{ranks: ranks}}
	for _, e := range g.list {
		for i := range all {
			with := all[i].ranks.Intersect(e.ranks)
			if with.IsEmpty() {
				continue
			}
			if without := all[i].ranks.Minus(with); !without.IsEmpty() {
				all = append(all, subset{without, all[i].commands})
			}
			commands := all[i].commands
			all[i] = subset{with, append(commands[:len(commands):len(commands)], e.command)}
		}
	}
	return all
}

// breakpoints returns the breakpoints that result from the commands.
func (p subset) breakpoints() []protocol.BreakpointInfo {
	var all []protocol.BreakpointInfo
	for _, c := range p.commands {
		if makesPoint(c.Name) {
			all = append(all, infoOf(c.Name, c.Args))
		}
		for i := range all {
			if b := &all[i]; changesPoints(c.Name) && (len(c.Args.Breakpoints)+len(c.Args.Places) == 0 ||
				c.Args.ChangesOnly(b.Number)) {
				applyChange(b, c)
			}
		}
	}
	return all
}

// applyChange changes the description of a breakpoint as a command does.
func applyChange(b *protocol.BreakpointInfo, c protocol.Command) {
	switch c.Name {
	case "condition":
		b.Condition = c.Args.Condition
	case "ignore":
		b.Ignore = c.Args.Count
	case "commands":
		b.Commands = c.Args.Lines
	case "enable", "disable":
		if len(c.Args.Places) > 0 {
			enableLocation(b, c.Args.Places[0].Number, c.Name == "enable")
			return
		}
		b.Enabled, b.Left = c.Name == "enable", 0
		switch c.Args.Then {
		case "disable":
			b.Left = max(c.Args.Count, 1)
		case "delete":
			b.Temporary = true
		}
	}
}

// enableLocation enables or disables one location of a breakpoint.
func enableLocation(b *protocol.BreakpointInfo, location int, enabled bool) {
	b.Disabled = slices.DeleteFunc(b.Disabled, func(n int) bool { return n == location })
	if !enabled {
		b.Disabled = append(b.Disabled, location)
		slices.Sort(b.Disabled)
	}
}

// infoOf describes a breakpoint that has no address yet.
func infoOf(name string, a protocol.Args) protocol.BreakpointInfo {
	b := protocol.BreakpointInfo{
		Number: a.Breakpoint, Type: "breakpoint", Temporary: a.Temporary, Enabled: true, Pending: true,
		Location: a.Location, Condition: a.Condition, Exprs: a.Exprs,
	}
	switch {
	case name == "watch":
		b.Type, b.Location = "watchpoint", a.Expr
	case name == "catch":
		b.Type, b.Location = "catchpoint", a.Event
	case name == "log":
		b.Type = "log"
	case name == "assert at":
		b.Type, b.Exprs, b.Stop = "assertion", []string{a.Expr}, a.Stop
	case a.Hardware:
		b.Type = "hw breakpoint"
	}
	return b
}

// cleared answers clear, which deletes breakpoints that were set with the same text.
func (p subset) cleared(location string) protocol.Group {
	var numbers []int
	for _, b := range p.breakpoints() {
		if b.Location == location && b.Type != "watchpoint" && b.Type != "catchpoint" {
			numbers = append(numbers, b.Number)
		}
	}
	if numbers == nil {
		f := &protocol.Fault{Kind: protocol.FaultGDB, Op: "clear", Message: "No breakpoint at " + location + ".", Hint: "info breakpoints lists them"}
		return protocol.Group{Kind: protocol.KindFault, Ranks: p.ranks, Body: canonical.JSON(f)}
	}
	return protocol.Group{Kind: protocol.KindResult, Ranks: p.ranks, Body: canonical.JSON(clearedNumbers{numbers})}
}

// clearedNumbers is the result of clear.
type clearedNumbers struct {
	Deleted []int `json:"deleted"`
}

func (p subset) displays() []protocol.Display {
	var all []protocol.Display
	for _, c := range p.commands {
		if isDisplay(c.Name) {
			all = append(all, displayOf(c.Name, c.Args))
		}
	}
	return all
}

func displayOf(name string, a protocol.Args) protocol.Display {
	return protocol.Display{Number: a.Display, Expr: a.Expr, Format: a.Format, Assert: name == "assert"}
}
