package console

import (
	"fmt"
	"os"
	"strings"

	"sdm/master/frontend/console/command"
)

// Script is a list of command lines and where they come from.
type Script struct {
	Name  string // for complaints: a file, "-e"
	Lines []string
}

// ReadScript reads a file of commands and checks that each of them makes sense,
// so that a misspelled one is found before anything is started. The error is
// one line.
func ReadScript(path string) (Script, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("cannot read commands: %w", err)
	}
	s := Script{Name: path, Lines: strings.Split(string(b), "\n")}
	return s, s.Check()
}

// Check finds the first line that makes no sense.
func (s Script) Check() error {
	block := false
	for i, line := range s.Lines {
		text := strings.TrimSpace(line)
		if block || text == "end" || text == "silent" { // of commands, which gdb will judge
			block = block && text != "end"
			continue
		}
		if cmd, _, err := command.Parse(line); err == nil {
			block = cmd.Name == command.Commands
		}
		if _, _, err := command.Parse(line); err != nil {
			return s.at(i, err)
		}
	}
	return nil
}

// at says where a mistake is: "FILE:LINE: ...", or for -e without a line.
func (s Script) at(i int, err error) error {
	if strings.HasPrefix(s.Name, "-") {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return fmt.Errorf("%s:%d: %w", s.Name, i+1, err)
}

// scripts is a stack of scripts under way: source puts one on top.
type scripts []position

type position struct {
	Script
	next int // index in Lines
}

// maxNested bounds scripts that source one another.
const maxNested = 32

func newScripts(all []Script) scripts {
	var s scripts
	for i := len(all) - 1; i >= 0; i-- {
		s = append(s, position{Script: all[i]})
	}
	return s
}

// take gives the next line and where it stands; false when there is none.
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

// push puts a script on top.
func (s *scripts) push(script Script) error {
	if len(*s) >= maxNested {
		return fmt.Errorf("more than %d scripts source one another", maxNested)
	}
	*s = append(*s, position{Script: script})
	return nil
}
