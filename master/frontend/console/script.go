// Files of commands.

package console

import (
	"context"
	"fmt"
	"strings"

	"sdm/master/language"
	"sdm/protocol/userfile"
)

// Script is a list of command lines with their origin.
type Script struct {
	Name  string // for error messages: a file, "-e"
	Lines []string
}

// ReadScript reads a file of commands and checks each of them, so that errors are found before
// anything is started. The error is one line. Reading ends with ctx.
func ReadScript(ctx context.Context, path string) (Script, error) {
	b, err := userfile.Read(ctx, path, userfile.MaxText)
	if err != nil {
		return Script{}, fmt.Errorf("cannot read commands: %w", err)
	}
	s := Script{Name: path, Lines: strings.Split(string(b), "\n")}
	return s, s.Check()
}

// Check returns an error for the first invalid line.
func (s Script) Check() error {
	block := false
	for i, line := range s.Lines {
		text := strings.TrimSpace(line)
		if block || text == "end" || text == "silent" { // lines of commands, which gdb checks
			block = block && text != "end"
			continue
		}
		cmd, _, err := language.Parse(line)
		if err != nil {
			return s.at(i, err)
		}
		block = cmd.Name == language.Commands
	}
	return nil
}

// at adds the position to an error: "FILE:LINE: ...", or for -e without a line.
func (s Script) at(i int, err error) error {
	if strings.HasPrefix(s.Name, "-") {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return fmt.Errorf("%s:%d: %w", s.Name, i+1, err)
}

// scripts is the stack of the active scripts: source pushes one.
type scripts []position

type position struct {
	Script
	next int // index in Lines
}

// maxNested bounds the depth of scripts that source one another.
const maxNested = 32

func newScripts(all []Script) scripts {
	var s scripts
	for i := len(all) - 1; i >= 0; i-- {
		s = append(s, position{Script: all[i]})
	}
	return s
}

// take returns the next line and its position; false if there is none.
func (s *scripts) take() (line string, at func(error) error, ok bool) {
	for len(*s) > 0 {
		top := &(*s)[len(*s)-1]
		if top.next == len(top.Lines) {
			*s = (*s)[:len(*s)-1]
			continue
		}
		i, script := top.next, top.Script
		top.next++
		return script.Lines[i], func(err error) error { return script.at(i, err) }, true
	}
	return "", nil, false
}

// push makes a script the current one.
func (s *scripts) push(script Script) error {
	if len(*s) >= maxNested {
		return fmt.Errorf("more than %d scripts source one another", maxNested)
	}
	*s = append(*s, position{Script: script})
	return nil
}
