package main

import (
	"errors"
	"os"
	"path/filepath"

	"sdm/master/frontend/console"
)

// readScripts reads all commands that are known beforehand: of the rc file, then
// of -x and -e.
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

// rcFile is the file of --rc, which goes before --no-rc, or the user's own, which
// need not be there.
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
