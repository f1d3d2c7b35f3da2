// Package completion tells what may follow on a command line of sdm, for shells. It reads nothing: what is on the
// machine is asked of functions that its caller gives.
package completion

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Kind is what a shell offers besides the candidates.
type Kind string

// These are the kinds.
const (
	Values      Kind = "values"      // nothing
	Open        Kind = "open"        // nothing, and a candidate may go on: no space follows it
	Files       Kind = "files"       // names of files
	Directories Kind = "directories" // names of directories
	Program     Kind = "program"     // what the program that begins at Answer.Program offers
)

// Candidate is a word that may stand in the place of the last one. About says what it is, in a few words.
type Candidate struct{ Text, About string }

// Answer is what may stand in the place of the last word.
type Answer struct {
	Kind       Kind
	Candidates []Candidate
	// Program is the number of words before the program, of kind Program. The name of sdm is the first of them.
	Program int
}

// Command is a subcommand. Values and Arguments may be nil.
type Command struct {
	Name, About string
	Flags       *pflag.FlagSet
	// Values returns what the value of a flag may be that begins with a text; others are left out.
	Values func(flag *pflag.Flag, begin string) Answer
	// Arguments returns what an argument may be that begins with a text; others are left out.
	Arguments func(begin string) Answer
	// Runs tells that the first argument is a program with arguments of its own; otherwise only what follows --.
	Runs bool
}

// Complete answers for a command line without the name of sdm. Its last word may be empty.
func Complete(commands []Command, words []string) Answer {
	last := words[len(words)-1]
	if len(words) == 1 {
		var names []Candidate
		for _, c := range commands {
			names = append(names, Candidate{c.Name, c.About})
		}
		return Answer{Kind: Values, Candidates: names}.beginning(last)
	}
	for _, c := range commands {
		if c.Name == words[0] {
			return c.complete(words[1:len(words)-1], last).beginning(last)
		}
	}
	return Answer{Kind: Values}
}

// complete answers for the word after some words that follow the subcommand.
func (c Command) complete(before []string, last string) Answer {
	const names = 2 // of sdm and of the subcommand
	for i := 0; i < len(before); i++ {
		word := before[i]
		if word == "--" {
			return Answer{Kind: Program, Program: names + i + 1}
		}
		if len(word) < 2 || word[0] != '-' {
			if c.Runs {
				return Answer{Kind: Program, Program: names + i}
			}
			continue
		}
		if flag := c.waiting(word); flag != nil {
			if i++; i == len(before) {
				return c.value(flag, last)
			}
		}
	}
	name, value, assigned := strings.Cut(last, "=")
	switch {
	case !strings.HasPrefix(last, "-"):
		if c.Runs {
			return Answer{Kind: Program, Program: names + len(before)}
		}
	case !assigned:
		return Answer{Kind: Values, Candidates: c.flags()}
	case strings.HasPrefix(name, "--") && c.Flags.Lookup(name[2:]) != nil:
		return c.value(c.Flags.Lookup(name[2:]), value).after(name + "=")
	default:
		return Answer{Kind: Values}
	}
	if c.Arguments == nil {
		return Answer{Kind: Values}
	}
	return c.Arguments(last)
}

// waiting returns the flag of a word whose value is the next word; nil if there is none.
func (c Command) waiting(word string) *pflag.Flag {
	var flag *pflag.Flag
	if name, long := strings.CutPrefix(word, "--"); long {
		flag = c.Flags.Lookup(name)
	} else if len(word) == len("-x") {
		flag = c.Flags.ShorthandLookup(word[1:])
	}
	if flag == nil || flag.NoOptDefVal != "" {
		return nil
	}
	return flag
}

// flags returns all flags that help shows.
func (c Command) flags() (all []Candidate) {
	c.Flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden {
			return
		}
		_, about := pflag.UnquoteUsage(flag)
		all = append(all, Candidate{"--" + flag.Name, about})
	})
	return all
}

// value answers for the value of a flag.
func (c Command) value(flag *pflag.Flag, begin string) Answer {
	if c.Values == nil {
		return Answer{Kind: Values}
	}
	return c.Values(flag, begin)
}

// after returns the answer for a word that has a text in front of the value.
func (a Answer) after(name string) Answer {
	out := a
	out.Candidates = nil
	for _, c := range a.Candidates {
		out.Candidates = append(out.Candidates, Candidate{name + c.Text, c.About})
	}
	return out
}

// beginning keeps the candidates that begin with a text, each once.
func (a Answer) beginning(text string) Answer {
	var kept []Candidate
	for _, c := range a.Candidates {
		if strings.HasPrefix(c.Text, text) && !slices.ContainsFunc(kept, func(k Candidate) bool { return k.Text == c.Text }) {
			kept = append(kept, c)
		}
	}
	a.Candidates = kept
	return a
}
