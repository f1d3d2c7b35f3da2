// Words of commands that need no language of their own.

package language

import (
	"maps"
	"slices"
	"strings"

	"sdm/protocol"
)

// words is the table of all words: the ones in written, and the ones that follow from the commands
// of the session. It is not modified.
var words = slices.Concat(written, derived(protocol.Commands))

// derived returns a word for each command that no row of written names.
func derived(commands []protocol.CommandInfo) []Word {
	var all []Word
	for _, info := range commands {
		named := func(w Word) bool { return w.do == info.Name || w.Name == info.Name }
		if !info.NoWord && !slices.ContainsFunc(written, named) {
			all = append(all, wordOf(info))
		}
	}
	return all
}

// wordOf returns the word of a command. What follows it is the location or the expression that the
// command reads.
func wordOf(info protocol.CommandInfo) Word {
	w := Word{Name: info.Name, Topic: topicOf(info), Help: info.Help, do: info.Name, derived: true}
	if info.Ours {
		w.like = nothing
	}
	var into func(*Command) *string
	switch {
	case info.Takes("location"):
		w.Usage, into = "LOCATION", func(c *Command) *string { return &c.Args.Location }
	case info.Takes("expr"):
		w.Usage, into = "EXPR", func(c *Command) *string { return &c.Args.Expr }
	default:
		return w
	}
	if info.Lacks == nil {
		w.Usage = "[" + w.Usage + "]"
	}
	w.parse = func(c *Command) *Mistake {
		*into(c) = c.Rest
		if info.Lacks != nil && info.Lacks(c.Args) {
			return &Mistake{Text: c.Name + " needs " + info.Asks}
		}
		return checkLocation(c, c.Args.Location)
	}
	return w
}

func topicOf(info protocol.CommandInfo) Topic {
	switch {
	case info.Resumes || info.Ends:
		return Run
	case info.Object == protocol.Breakpoints:
		return Break
	}
	return Look
}

// pairs are the first words with a second word, and the least number of letters of that; of a
// derived word all letters are needed.
var pairs = func() map[string]map[string]int {
	all := maps.Clone(writtenPairs)
	for _, w := range words {
		if first, second, two := strings.Cut(w.Name, " "); w.derived && two {
			all[first] = maps.Clone(all[first])
			if all[first] == nil {
				all[first] = map[string]int{}
			}
			all[first][second] = len(second)
		}
	}
	return all
}()
