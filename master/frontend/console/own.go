// Commands that the console executes itself.

package console

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// source begins to read the commands of a file, which may be a pipe; the console continues to process
// events, and Ctrl-C ends the reading.
func (c *console) source(path string, from source) {
	ctx, stop := c.within()
	read := make(chan func(), 1)
	c.await = await{reading: &reading{read, stop}}
	go func() { // awaited by next, at the latest by close
		script, err := ReadScript(ctx, atHome(path))
		read <- func() {
			if err == nil {
				err = c.scripts.push(script)
			}
			if err != nil {
				c.mistake(from.at(err))
			}
		}
	}()
}

// reading is a file of commands that is being read.
type reading struct {
	done chan func() // begins to execute it, or tells why not
	stop context.CancelCauseFunc
}

// read returns the channel of the file that is being read, nil if there is none.
func (a *await) read() <-chan func() {
	if a.reading == nil {
		return nil
	}
	return a.reading.done
}

// atHome returns the path of a file that may be below "~/".
func atHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	home, err := os.UserHomeDir()
	if !ok || err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

// shell runs a shell command; the console continues to process events.
func (c *console) shell(line string) error {
	if c.sh == nil {
		return &language.Mistake{Text: "shell: there is none here"}
	}
	over := make(chan error, 1)
	c.await = await{shell: over}
	go func() { over <- c.sh(line) }() // awaited by next, at the latest by close
	return nil
}

// focusOn evaluates a set in the master and makes it the focus.
func (c *console) focusOn(cmd language.Command, from source) error {
	if cmd.Args.Set == "" {
		c.say("focus is [" + text.Ranks(c.focus) + "], " + text.Plural(c.focus.Len(), "rank"))
		return nil
	}
	return c.evaluateSet(cmd, from, func(s rank.Set) { c.focus = s })
}

// waitFor waits until ranks have stopped or ended.
func (c *console) waitFor(cmd language.Command) error {
	settle := func(s rank.Set) {
		c.await = await{quiet: !cmd.Any, any: cmd.Any, ranks: s}
		if cmd.For > 0 {
			c.await.timer = time.NewTimer(cmd.For)
			c.await.expiry = c.await.timer.C
		}
	}
	if cmd.Args.Set == "" {
		settle(c.focus)
		return nil
	}
	return c.evaluateSet(cmd, source{}, settle) // to wait for no rank is not an error
}

// evaluateSet evaluates a set in the master. It reports if the set is empty, or if some ranks could not
// be asked.
func (c *console) evaluateSet(cmd language.Command, from source, then func(rank.Set)) error {
	x := &call{cmd: cmd, from: from, quiet: true, refusals: cmd.Name != language.Wait, then: func(x *call) {
		if cmd.Name == language.Wait && x.results.IsEmpty() {
			return // an empty set: the wait is over
		}
		x.groups = slices.DeleteFunc(x.groups, func(g protocol.Group) bool { return g.Kind == protocol.KindResult })
		c.answers(x)
		if !x.results.IsEmpty() {
			then(x.results)
		}
	}}
	args := protocol.Args{Set: cmd.Args.Set}
	return c.beginAwaited(x, session.Call{Command: "focus", Wait: cmp.Or(cmd.Wait, c.wait), Args: args})
}

// Shell runs a shell command; it returns when that has ended, or ctx is done.
type Shell func(ctx context.Context, line string) error
