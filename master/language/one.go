// Lines of front ends that have no prompt.

package language

import (
	"errors"
	"strings"
)

// ParseOne parses a line that is to be one command.
func ParseOne(line string) (Command, error) {
	if strings.ContainsAny(line, "\r\n") {
		return Command{}, errors.New("one line at a time")
	}
	c, ok, err := Parse(line)
	if err == nil && !ok {
		err = errors.New("the line is empty")
	}
	return c, err
}

// PromptOnly returns why only a prompt can execute the command; "": it is one of the session.
func (c Command) PromptOnly() string {
	switch {
	case c.Do == "":
		return c.Name + " is a word of the prompt itself, which is not here"
	case c.Do == "values":
		return c.Name + " of files and whole arrays is for the prompt only"
	case c.File != "":
		return "files are written at the prompt only"
	}
	return ""
}
