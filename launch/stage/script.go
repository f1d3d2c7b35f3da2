package stage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Script makes a program of a command line, for starters that take the name of a
// program but no arguments for it, or not as many: a shell script in dir, which the
// hosts that run it must have in common. line is the command line, quoted for a
// shell.
func Script(dir, session, line string) (string, error) {
	if strings.ContainsAny(line, "\x00") {
		return "", errors.New("a command line cannot hold a zero byte")
	}
	path := filepath.Join(dir, "server-"+clean(session))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		return "", plain(err)
	}
	_, err = f.WriteString("#!/bin/sh\nexec " + line + " \"$@\"\n")
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
		return "", plain(err)
	}
	return path, nil
}
