// Finds the file of a program as a shell would, and replaces this process by it.

package local

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"sdm/protocol"
)

// defaultPath is the search path for a rank without PATH, as in execvp(3).
const defaultPath = "/bin:/usr/bin"

// resolve returns the file to execute, as a shell of the rank would find it: relative names are
// relative to the rank's working directory, and PATH is taken from its environment.
func resolve(spec Spec) (string, error) {
	if err := checkCwd(spec); err != nil {
		return "", err
	}
	name := spec.Program
	switch {
	case name == "":
		return "", launchFault("", fmt.Errorf("no program is given"), "sdm run PROGRAM")
	case strings.Contains(name, "/"):
		return name, nil
	}
	for _, dir := range filepath.SplitList(pathOf(spec.Env)) {
		if dir == "" {
			dir = "."
		}
		path := dir + "/" + name
		if isExecutable(inCwd(spec.Cwd, path)) {
			return path, nil
		}
	}
	hint := "give a path, or --env-prepend PATH=DIR"
	if _, err := os.Stat(inCwd(spec.Cwd, name)); err == nil {
		hint = "did you mean ./" + name + "?"
	}
	return "", launchFault(name, fmt.Errorf("no such program in PATH"), hint)
}

// Become replaces this process by a program, with the standard streams and the descriptors that
// Inherited has found. It returns only an error, which says what is wrong with the program.
func Become(spec Spec, inherited []int) error {
	path, err := resolve(spec)
	if err != nil {
		return err
	}
	for _, fd := range inherited {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
			return fmt.Errorf("descriptor %d: %w", fd, err)
		}
	}
	return explain(syscall.Exec(path, append([]string{spec.Program}, spec.Args...), spec.Env), path, spec)
}

func checkCwd(spec Spec) error {
	if spec.Cwd == "" {
		return nil
	}
	what := "working directory " + spec.Cwd
	info, err := os.Stat(spec.Cwd)
	switch {
	case os.IsNotExist(err):
		return launchFault(what, fmt.Errorf("no such directory"), "make it, or give another with --cwd")
	case err != nil:
		return launchFault(what, unwrap(err), "")
	case !info.IsDir():
		return launchFault(what, fmt.Errorf("not a directory"), "give another with --cwd")
	case unix.Faccessat(unix.AT_FDCWD, spec.Cwd, unix.X_OK, unix.AT_EACCESS) != nil:
		return launchFault(what, fmt.Errorf("permission denied"), "")
	}
	return nil
}

func pathOf(env []string) string {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			return value
		}
	}
	return defaultPath
}

func inCwd(cwd, path string) string {
	if cwd == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cwd, path)
}

func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() &&
		unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) == nil
}

func launchFault(what string, err error, hint string) *protocol.Fault {
	text := err.Error()
	if what != "" {
		text = what + ": " + text
	}
	return &protocol.Fault{Kind: protocol.FaultLaunch, Message: text, Hint: hint}
}

// unwrap removes operation and path, which the caller's text contains already.
func unwrap(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
