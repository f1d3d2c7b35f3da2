package main

import (
	"errors"
	"os"
	"path/filepath"

	"sdm/master/frontend/console"
)

// readScripts reads all commands that are known at the start: those of the rc file, then -x and -e.
func (o *options) readScripts() ([]console.Script, error) {
	var all []console.Script
	path, given := o.rcFile()
	if path != "" {
		s, err := console.ReadScript(path)
		switch {
		case err == nil:
			all = append(all, s)
		case given || !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	for _, f := range o.scripts {
		s, err := f.script()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// rcFile returns the file of --rc, which takes precedence over --no-rc, or the user's default file,
// which need not exist.
func (o *options) rcFile() (path string, given bool) {
	switch {
	case o.rc != "":
		return o.rc, true
	case o.noRC:
		return "", false
	}
	dir := o.lookup("XDG_CONFIG_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "sdm", "sdmrc"), false
}
