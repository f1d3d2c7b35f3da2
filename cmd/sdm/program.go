// Checks of programs before they are started on this machine.

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sdm/protocol"
)

// program is a program that is to be started on this machine.
type program struct {
	name       string
	cwd        string // "": ours
	directives []protocol.EnvDirective
}

// first returns the first program of the job.
func (o *runOptions) first() program { return program{o.args[0], o.ranks.cwd, o.ranks.directives} }

// checkPrograms checks each program of the job.
func (o *runOptions) checkPrograms() error {
	if err := o.first().check(); err != nil || len(o.apps) == 0 {
		return err
	}
	for _, a := range o.apps[1:] {
		one := program{a.args[0], o.ranks.cwd, slices.Concat(o.ranks.directives[:o.jobLevel], a.directives)}
		if a.cwd != "" {
			one.cwd = a.cwd
		}
		if err := one.check(); err != nil {
			return err
		}
	}
	return nil
}

// check returns why a program cannot be started. It is called before anything is started. It returns
// nil if only the environment of the rank can decide.
func (p program) check() error {
	if p.cwd != "" {
		if info, err := os.Stat(p.cwd); err != nil || !info.IsDir() {
			return fmt.Errorf("--cwd %s: no such directory", p.cwd)
		}
	}
	if !strings.Contains(p.name, "/") {
		return p.checkInPath()
	}
	info, err := os.Stat(p.file())
	switch {
	case err != nil && p.cwd != "" && !filepath.IsAbs(p.name):
		return fmt.Errorf("%s: no such program in %s (paths are relative to --cwd)", p.name, p.cwd)
	case err != nil:
		return fmt.Errorf("%s: no such program (build it, or give its path)", p.name)
	case info.IsDir():
		return fmt.Errorf("%s: is a directory (give the path of a program)", p.name)
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: not executable (chmod +x %s)", p.name, p.name)
	}
	return nil
}

// checkInPath is check for a program without a path.
func (p program) checkInPath() error {
	if slices.ContainsFunc(p.directives, func(d protocol.EnvDirective) bool { return d.Name == "PATH" }) {
		return nil
	}
	if _, err := exec.LookPath(p.name); err == nil || errors.Is(err, exec.ErrDot) {
		return nil
	}
	switch info, err := os.Stat(filepath.Join(p.cwd, p.name)); {
	case err != nil:
		return fmt.Errorf("%s: no such program in PATH (give its path)", p.name)
	case info.IsDir():
		return fmt.Errorf("%s: is a directory (give the path of a program)", p.name)
	}
	return fmt.Errorf("%s: no such program in PATH (did you mean ./%s?)", p.name, p.name)
}

// file returns the file of the program, as far as it can be determined.
func (p program) file() string {
	if !strings.Contains(p.name, "/") {
		if path, err := exec.LookPath(p.name); err == nil {
			return path
		}
	}
	if filepath.IsAbs(p.name) || p.cwd == "" {
		return p.name
	}
	return filepath.Join(p.cwd, p.name)
}
