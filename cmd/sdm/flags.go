// The flags of a subcommand: sections, help, environment.

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"sdm/cmd/internal/startup"
)

// flagSet is the flags of a subcommand, in sections for help.
type flagSet struct {
	*pflag.FlagSet
	sections []flagSection
	without  []string // flags of sections that the subcommand does not have
	first    []string // flags that help shows first
	head     string   // of help: what the subcommand is for
	foot     string   // of help: what is said after the flags

	// words checks the command line before it is parsed; nil: nothing is to be checked.
	words func(args []string) error
	typed []string // flags on the command line; the others are from the environment
}

// flagSection is a section of flags in help.
type flagSection struct {
	title string
	flags *pflag.FlagSet
}

// newFlags makes the flags of a subcommand, without some of those that add will add. head is what its help begins with.
func newFlags(subcommand, head string, without ...string) *flagSet {
	return &flagSet{FlagSet: startup.NewFlags("sdm " + subcommand), without: without, head: head, foot: footer}
}

// help returns the help of the subcommand around what is said of its flags.
func (s *flagSet) help(flags string) string { return s.head + flags + s.foot }

// add adds a section of flags.
func (s *flagSet) add(title string, declare ...func(*pflag.FlagSet)) {
	all, g := startup.NewFlags(""), flagSection{title, startup.NewFlags("")}
	for _, d := range declare {
		d(all)
	}
	all.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(s.without, flag.Name) {
			g.flags.AddFlag(flag)
		}
	})
	s.AddFlagSet(g.flags)
	s.sections = append(s.sections, g)
}

// hide leaves flags out of help. They are accepted and do nothing.
func (s *flagSet) hide(names ...string) {
	for _, name := range names {
		if flag := s.Lookup(name); flag != nil {
			flag.Hidden = true
		}
	}
}

// parse reads the command line, and then the environment for flags that were not given.
func (s *flagSet) parse(args, env []string) error {
	if s.words != nil {
		if err := s.words(args); err != nil {
			return err
		}
	}
	err := s.Parse(respell(s.FlagSet, args))
	s.Visit(func(flag *pflag.Flag) { s.typed = append(s.typed, flag.Name) })
	if err == nil {
		err = s.fromEnvironment(env)
	}
	if err == nil {
		s.scale(startup.Slowness())
	}
	var value *pflag.InvalidValueError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
		return err
	case errors.As(err, &value):
		return fmt.Errorf("--%s %s: %w", value.GetFlag().Name, value.GetValue(), meant(value))
	}
	return fmt.Errorf("%w (sdm help %s lists the flags)", err, strings.TrimPrefix(s.Name(), "sdm "))
}

// scale multiplies the waits that were not given: on a busy machine a start and an answer take longer.
func (s *flagSet) scale(times int) {
	for _, name := range []string{"connect-wait", "wait"} {
		flag := s.Lookup(name)
		if flag == nil || flag.Changed {
			continue
		}
		if d, ok := flag.Value.(*duration); ok {
			*d *= duration(times)
		}
	}
}

// fromEnvironment sets the flags that were not given from their environment variables.
func (s *flagSet) fromEnvironment(env []string) error {
	err := startup.FromEnvironment(s.FlagSet, env, []string{"connect", "batch"}, []string{"connect", "execute"}, []string{"connect", "eval"})
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s=%s: %w", startup.VariableOf(bad.GetFlag()), bad.GetValue(), meant(bad))
	}
	return err
}

// isTyped reports whether a flag is on the command line.
func (s *flagSet) isTyped(name string) bool { return slices.Contains(s.typed, name) }

// brief returns help about the flags that are used most, and names the other sections. Without such flags it returns
// help about all.
func (s *flagSet) brief() string {
	if len(s.first) == 0 {
		return s.usages()
	}
	described := s.described()
	text := described[0].text + fmt.Sprintf("\nsdm help %s all has other flags:\n", strings.TrimPrefix(s.Name(), "sdm "))
	for _, g := range described[1:] {
		text += "  " + g.title + "\n"
	}
	return text
}

// usages returns help about all flags, in their sections.
func (s *flagSet) usages() string {
	var texts []string
	for _, g := range s.described() {
		texts = append(texts, g.text)
	}
	return strings.Join(texts, "\n")
}

// describedSection is help about a section of flags.
type describedSection struct{ title, text string }

// described returns the sections that help shows: first the flags that are used most, if there are such.
func (s *flagSet) described() (all []describedSection) {
	add := func(title string, flags *pflag.FlagSet) {
		if flags.HasAvailableFlags() {
			all = append(all, describedSection{title, title + ":\n" + flags.FlagUsagesWrapped(100)})
		}
	}
	first := startup.NewFlags("")
	for _, name := range s.first {
		first.AddFlag(s.Lookup(name))
	}
	add("Flags that are used most", first)
	for _, g := range s.sections {
		rest := startup.NewFlags("")
		g.flags.VisitAll(func(flag *pflag.Flag) {
			if first.Lookup(flag.Name) == nil {
				rest.AddFlag(flag)
			}
		})
		add(g.title, rest)
	}
	return all
}
