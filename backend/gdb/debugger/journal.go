// The commands that a replacement gdb must execute.

package debugger

import (
	"sdm/backend/gdb/request"
	"sdm/protocol"
	"slices"
)

// journal has the commands whose effect lasts, in order, without those whose effect has ended.
type journal struct {
	commands []protocol.Command
	repeats  []protocol.Command // those that the gdb which takes the rank over is to execute
}

// restart makes the commands those that the next gdb executes, which remembers them again.
func (j *journal) restart() { j.repeats, j.commands = j.commands, nil }

// remember adds an executed command to the journal, or removes the commands whose effect it has ended.
func (j *journal) remember(q *request.Request) {
	info, _ := protocol.LookupCommand(q.Name)
	switch {
	case q.Name == "gdb" && protocol.IsSetting(q.Args.Text):
		j.rememberLine(q)
	case info.Lasts():
		for _, a := range q.Args.PerBreakpoint() {
			if q.Located != "" {
				a.Location = q.Located
			}
			j.commands = append(j.commands, protocol.Command{Name: q.Name, Args: a})
		}
	case info.Effect != protocol.Removes || !info.ChangesPoints():
	case len(q.Args.Breakpoints) == 0:
		j.commands = slices.DeleteFunc(j.commands, func(c protocol.Command) bool {
			of, _ := protocol.LookupCommand(c.Name)
			return of.Object == protocol.Breakpoints
		})
	default:
		for _, n := range q.Args.Breakpoints {
			j.forget(n)
		}
	}
}

// rememberLine adds a line for gdb, in place of an equal one.
func (j *journal) rememberLine(q *request.Request) {
	j.commands = slices.DeleteFunc(j.commands, func(c protocol.Command) bool {
		return c.Name == "gdb" && c.Args.Text == q.Args.Text
	})
	j.commands = append(j.commands, protocol.Command{Name: "gdb", Args: q.Args})
}

// forget removes all commands about a breakpoint that does not exist any more.
func (j *journal) forget(number int) {
	j.commands = slices.DeleteFunc(j.commands, func(c protocol.Command) bool {
		return number != 0 && (c.Args.Breakpoint == number || c.Args.ChangesOnly(number))
	})
}

// wasGiven reports whether the rank has executed a line for gdb, or is about to execute it again.
func (j *journal) wasGiven(c *request.Command) bool {
	return wasGiven(j.commands, c) || wasGiven(j.repeats, c)
}

// wasGiven reports whether a line for gdb is among some commands.
func wasGiven(list []protocol.Command, c *request.Command) bool {
	return slices.ContainsFunc(list, func(o protocol.Command) bool {
		return o.Name == c.Name && o.Args.Text == c.Args.Text
	})
}

// recount replaces a command that enables a breakpoint for a number of hits, after one of these.
func (j *journal) recount(again protocol.Command) {
	number := again.Args.Breakpoints[0]
	j.commands = slices.DeleteFunc(j.commands, func(c protocol.Command) bool {
		return c.Name == "enable" && c.Args.Then != "" && len(c.Args.Places) == 0 && c.Args.ChangesOnly(number)
	})
	j.commands = append(j.commands, again)
}
