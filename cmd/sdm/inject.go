package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sdm/launch/mpir"
)

// starterTemplates maps names that --starter-args accepts in place of a template to the arguments
// by which known starters start a tool's daemons, one on each node.
var starterTemplates = map[string]string{
	"openmpi": "--mca orte_debugger_test_daemon {daemon}", // it passes no arguments to the daemon
}

// template returns the words of --starter-args; none without the flag.
func (o *options) template() ([]templateWord, error) {
	text := o.starterArgs
	if known, ok := starterTemplates[text]; ok {
		text = known
	}
	words, err := splitTemplate(text)
	if err == nil && len(words) > 0 && !slices.ContainsFunc(words, func(w templateWord) bool { return strings.Contains(w.text, "{daemon}") }) {
		err = errors.New("it has no {daemon} (e.g. '--tool {daemon} --tool-arguments \"{args}\"', or openmpi)")
	}
	if err != nil {
		return nil, fmt.Errorf("--starter-args %s: %w", o.starterArgs, err)
	}
	return words, nil
}

// validateInjection checks --starter-args and the flags that exclude it.
func (o *options) validateInjection() error {
	if o.starterArgs == "" {
		return nil
	}
	_, err := o.template()
	switch {
	case err != nil:
		return err
	case o.startTool != "" || o.remoteShell != "":
		return errors.New("--starter-args, --start-tool and --remote-shell all start the servers: give only one")
	case o.launcher == launcherSlot:
		return errors.New("--starter-args goes with MPIR, not with --launcher slot")
	case len(o.directives) > 0:
		return errors.New("--env: with --starter-args the starter alone decides what its ranks get (mpirun -x NAME=VALUE)")
	}
	return nil
}

// templateWord is one word of a template.
type templateWord struct {
	text   string
	quoted bool // in whole or in part
}

// splitTemplate splits a template at blanks that are not quoted, as a POSIX shell splits a line
// without special characters (POSIX Shell Command Language, 2.2 Quoting).
func splitTemplate(text string) ([]templateWord, error) {
	var words []templateWord
	var word *templateWord
	quote := rune(0)
	escaped := false
	for _, c := range text {
		blank := c == ' ' || c == '\t' || c == '\n'
		if word == nil && quote == 0 && blank {
			continue
		}
		if word == nil {
			words = append(words, templateWord{})
			word = &words[len(words)-1]
		}
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", c) {
				word.text += "\\"
			}
			word.text, escaped = word.text+string(c), false
		case c == '\\' && quote != '\'':
			word.quoted, escaped = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			word.quoted, quote = true, c
		case quote == 0 && blank:
			word = nil
		default:
			word.text += string(c)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quotation does not end")
	}
	return words, nil
}

// inject fills in a template. {args} as an unquoted word of its own becomes one word for each
// argument; elsewhere the arguments are joined by blanks.
func inject(template []templateWord, daemon string, args []string) []string {
	var words []string
	fill := strings.NewReplacer("{daemon}", daemon, "{args}", strings.Join(args, " "))
	for _, w := range template {
		if w.text == "{args}" && !w.quoted {
			words = append(words, args...)
			continue
		}
		words = append(words, fill.Replace(w.text))
	}
	return words
}

// takes reports whether the arguments of a daemon fit into a template: it has a place for them, and
// none of them would be split there.
func takes(template []templateWord, args []string) bool {
	place := false
	for _, w := range template {
		if !strings.Contains(w.text, "{args}") {
			continue
		}
		place = true
		if alone := w.text == "{args}" && !w.quoted; !alone && slices.ContainsFunc(args, falls) {
			return false
		}
	}
	return place
}

// falls reports whether splitting at blanks would change an argument.
func falls(arg string) bool { return arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$`") }

// inject inserts the arguments that start our servers into the starter's command line.
func (h *held) inject(p *plan, spec *mpir.Spec) error {
	template, err := p.o.template()
	if err != nil {
		return err
	}
	s, err := openSlots(p, true)
	if err != nil {
		return err
	}
	h.come = s
	line, err := p.o.daemonLine(s)
	if err != nil {
		return err
	}
	daemon, args := line[0], line[1:]
	if !takes(template, args) {
		if daemon, err = p.o.scriptFor(s, line); err != nil {
			return err
		}
		args = nil
	}
	spec.Argv = slices.Concat(p.o.args[:1], inject(template, daemon, args), p.o.args[1:])
	p.log.Info("the starter is to start our servers", "line", spec.Argv, "by", filepath.Base(daemon))
	return nil
}
