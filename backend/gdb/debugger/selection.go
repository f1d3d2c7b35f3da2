// The selected thread and frame, and how gdb is told what a command is about.

package debugger

import (
	"sdm/backend"
	"sdm/backend/gdb/request"
	"strconv"
)

// Selected returns the selected thread and frame, or those that the request names.
func (c *core) Selected(q *request.Request) request.Selection {
	s := c.chosen
	if q.Args.Thread != 0 && q.Args.Thread != s.Thread {
		s = request.Selection{Thread: q.Args.Thread}
	}
	if q.Args.Frame != nil {
		s.Frame = *q.Args.Frame
	}
	return s
}

// At returns arguments that name that thread and frame to gdb (GDB manual, GDB/MI Context management).
func (c *core) At(q *request.Request) []string {
	s := c.Selected(q)
	return []string{"--thread", c.GDBThread(s.Thread), "--frame", strconv.Itoa(s.Frame)}
}

// here returns arguments that name the rank, for commands about a whole program
// (-break-insert, -target-attach, a line of gdb's command line).
func (c *core) here() []string {
	if !c.GDB.Shared() {
		return nil
	}
	return c.somewhere()
}

// selecting is here, but with the selected frame, in whose language gdb reads a
// condition.
func (c *core) selecting(q *request.Request) []string {
	if !c.GDB.Shared() {
		return nil
	}
	return c.Where(q)
}

// Where returns At for a stopped rank, otherwise arguments that name only the rank.
func (c *core) Where(q *request.Request) []string {
	if c.StateNow() == backend.Stopped {
		return c.At(q)
	}
	return c.somewhere()
}

// somewhere names the rank by a thread, if it has one. With --thread-group alone gdb
// 13.1 switches to the program and stays there, while its selected thread is still
// another rank's. What names that thread next is then looked up in the wrong program,
// at addresses of another process, and gdb drops libraries of that process.
func (c *core) somewhere() []string {
	if len(c.threads) == 0 {
		return []string{"--thread-group", c.threadGroup}
	}
	return []string{"--thread", strconv.Itoa(c.threads[0].GDB)}
}

// restoreSelection undoes that effect after a command that can name a rank only by
// --thread-group.
func (c *core) restoreSelection() {
	if c.GDB.Shared() && len(c.threads) > 0 {
		c.Tell("interrupt", "-info-gdb-mi-command", append(c.somewhere(), "exec-interrupt")...)
	}
}

// inConsoleOr is InConsole, but passes on gdb's errors as well.
func (c *core) inConsoleOr(q *request.Request, line string, then func(request.Answer)) {
	c.ask(q, then, "-interpreter-exec", append(c.Where(q), "console", line)...).Print = true
}

// selectNeighbour has a shared gdb select a thread of another rank. A command with --thread-group can
// leave gdb with the inferior of that group and a thread of another one (mi-main.c, mi_cmd_execute:
// any_live_thread_of_inferior prefers the selected thread if it has stopped). A -target-detach of the
// group of that thread finds the thread selected already, does not switch, and detaches from the wrong
// inferior (seen with 13.1). The command has no other effect.
func (c *core) selectNeighbour() {
	for _, o := range c.GDB.ranks {
		if o != c && len(o.threads) > 0 {
			c.Tell("select", "-list-features", "--thread", strconv.Itoa(o.threads[0].GDB))
			return
		}
	}
}
