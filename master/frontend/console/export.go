// Answers that are written to files.

package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sdm/master/hangfile"
	"sdm/master/language"
	"sdm/master/session"
	"sdm/master/text"
	"sdm/master/valuefile"
	"sdm/protocol"
	"sdm/protocol/stack"
	"sdm/protocol/userfile"
)

// writeNotes writes what an exported tree does not contain.
func (s *screen) writeNotes(x *call) {
	for _, g := range x.groups {
		var note protocol.Note
		if isNote(x, g) && json.Unmarshal(g.Body, &note) == nil && s.cfg.Format == Text {
			s.complain(note.Text)
		}
		if x.cmd.Export != "" && !strings.HasPrefix(x.cmd.Export, language.Waits) && g.Kind == protocol.KindResult &&
			s.cfg.Format == Text {
			for _, line := range s.cfg.ErrWriter.Notes(g) {
				s.complain(line)
			}
		}
	}
}

// isNote reports whether an answer is a note beside an exported tree, which may be read by a program.
func isNote(x *call, g protocol.Group) bool {
	return x.cmd.Export != "" && g.Kind == protocol.KindNote && g.Ranks.IsEmpty()
}

// oneTree returns the answers to a call, of which exported trees have become one. Notes are left out.
func oneTree(x *call) (groups []protocol.Group) {
	at := -1
	for _, g := range x.groups {
		switch {
		case isNote(x, g):
		case x.cmd.Export == "" || g.Kind != protocol.KindResult:
			groups = append(groups, g)
		case at < 0:
			at = len(groups)
			groups = append(groups, protocol.Group{Kind: g.Kind, Ranks: g.Ranks, Body: g.Body, Stack: g.Stack, Waits: g.Waits})
		default:
			to := &groups[at]
			to.Ranks, to.Stack, to.Waits = to.Ranks.Union(g.Ranks), to.Stack.Merge(g.Stack), to.Waits.Merge(g.Waits)
		}
	}
	return groups
}

// export ends a call whose results go to a file: it writes that, and other answers as usual.
func (c *console) export(x *call) {
	c.writeNotes(x)
	var e exported
	switch {
	case x.cmd.Do == "values":
		e = c.exportValues(x)
	case x.cmd.Name == language.Save:
		e = exportBreakpoints(x)
	case strings.HasSuffix(x.cmd.Export, language.HangFile):
		e = exportHang(x, c.states, c.cfg)
	default:
		e = exportStacks(x, c.cfg.FileMode)
	}
	if x.groups = e.shown; x.cmd.Do != "values" { // those were written
		c.answers(x)
	}
	said, err := e.write(atHome(x.cmd.File))
	switch {
	case err != nil:
		c.complain(x.cmd.Name + ": " + err.Error())
		c.fail(x.from.at(errFailed))
	case said != "":
		c.say(said)
	}
}

// exported is what becomes of the answers to a call whose results go to a file.
type exported struct {
	shown []protocol.Group // the answers that are written as usual
	// write writes the file and returns a message for the user; "" if there is nothing to tell.
	write func(path string) (said string, err error)
}

// exportStacks exports stacks, or what ranks wait for, in a format for other programs.
func exportStacks(x *call, mode os.FileMode) exported {
	var tree *stack.Tree
	sampled := false
	for _, g := range x.groups {
		if g.Kind == protocol.KindResult {
			tree, sampled = tree.Merge(g.Stack), sampled || text.Sampled(g)
		}
	}
	groups := x.groups
	write := func(path string) (string, error) {
		if tree == nil {
			return "", nil
		}
		out := text.ExportWaits(x.asked, groups)
		if out == "" {
			out = text.Export(tree, x.cmd.Export, sampled)
		}
		return "[" + text.Ranks(x.results) + "] " + x.cmd.Name + ": " + text.Plural(strings.Count(out, "\n"), "line") + " written to " + x.cmd.File,
			userfile.Replace(path, out, mode)
	}
	return exported{withoutResults(x), write}
}

// exportHang exports the answers to stacks as a new hang file.
func exportHang(x *call, states *session.States, cfg *Config) exported {
	groups := x.groups
	return exported{write: func(path string) (string, error) {
		if cfg.HangFile == nil {
			return "", errors.New("a hang file cannot be written here")
		}
		f := cfg.HangFile()
		for _, g := range groups {
			e := session.NewEvent(g)
			e.Command = x.asked.Command
			f.Stacks = append(f.Stacks, e)
		}
		f.States = hangfile.StatesOf(states)
		f.Judge()
		name, err := userfile.Create(path, cfg.FileMode, f.Write)
		return "[" + text.Ranks(x.results) + "] " + x.cmd.Name + ": written to " + name + " (sdm open " + name + ")", err
	}}
}

// exportBreakpoints exports the breakpoints of ranks as GDB commands.
func exportBreakpoints(x *call) exported {
	out := text.Saved(x.groups)
	return exported{withoutResults(x), func(path string) (string, error) {
		if out == "" {
			return "Nothing to save.", nil
		}
		return "Saved to file '" + x.cmd.File + "'.", userfile.Replace(path, out, 0)
	}}
}

// withoutResults returns the answers to a call that are neither results nor notes beside them.
func withoutResults(x *call) []protocol.Group {
	return slices.DeleteFunc(slices.Clone(x.groups),
		func(g protocol.Group) bool { return g.Kind == protocol.KindResult || isNote(x, g) })
}

// exportValues exports values as a snapshot of a file: of a new one, or, if the session has written it, of one more.
func (c *console) exportValues(x *call) exported {
	all := c.valuesIn(x)
	return exported{write: func(path string) (string, error) {
		if len(all) == 0 {
			return "", nil
		}
		n := c.values.saved[path] + 1
		s := valuefile.Snapshot{Number: n, Ranks: x.results, Values: all}
		var err error
		if n == 1 {
			mode := c.cfg.FileMode
			if mode == 0 {
				mode = userfile.OwnMode
			}
			version := ""
			if c.cfg.HangFile != nil {
				version = c.cfg.HangFile().Sdm
			}
			b := s.Append(valuefile.AppendHead(nil, version, time.Now()))
			err = userfile.Replace(path, string(b), mode)
		} else {
			err = userfile.Append(path, s.Append(nil))
		}
		if err != nil {
			return "", err
		}
		if c.values.saved == nil {
			c.values.saved = map[string]int{}
		}
		c.values.saved[path] = n
		said := fmt.Sprintf("[%s] save values: snapshot %d written to %s", text.Ranks(x.results), n, x.cmd.File)
		return said + notSaved(all), nil
	}}
}

// notSaved tells what of the values is not in a file.
func notSaved(all []valuefile.Value) string {
	var lines []string
	for _, v := range all {
		line := ""
		switch {
		case v.Trouble != "":
			line = fmt.Sprintf("\n[%s] %s has no value: %s", text.Ranks(v.Ranks), v.Expr, v.Trouble)
		case v.Stride > 1:
			line = fmt.Sprintf("\n%s: of %d elements each %dth was taken, and the hash of all", v.Expr, v.Shape.Elements(), v.Stride)
		}
		if line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
