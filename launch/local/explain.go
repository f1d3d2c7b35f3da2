// Why a program could not be started.

package local

import (
	"bufio"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// explain returns an error that says why a program could not be started: one errno of the kernel
// can have several causes.
func explain(err error, path string, spec Spec) error {
	file := inCwd(spec.Cwd, path)
	info, statErr := os.Stat(file)
	switch {
	case errors.Is(err, syscall.ENOENT) && statErr != nil:
		return launchFault(path, fmt.Errorf("no such program"), "check the path; relative ones are relative to the working directory of the rank")
	case errors.Is(err, syscall.ENOENT):
		return launchFault(path, fmt.Errorf("its interpreter %s is missing", interpreter(file)), "")
	case errors.Is(err, syscall.ENOEXEC):
		return launchFault(path, errors.New(foreign(file)), "")
	case errors.Is(err, syscall.EACCES) && statErr == nil && info.IsDir():
		return launchFault(path, fmt.Errorf("is a directory"), "")
	case errors.Is(err, syscall.EACCES) && statErr == nil && info.Mode()&0o111 == 0:
		return launchFault(path, fmt.Errorf("not executable"), "chmod +x "+path)
	case errors.Is(err, syscall.EPERM):
		return launchFault(path, fmt.Errorf("this system does not let us trace programs"), "in a container: give it the capability SYS_PTRACE")
	case errors.Is(err, syscall.E2BIG):
		return launchFault(path, fmt.Errorf("arguments and environment are too long for the system"), "getconf ARG_MAX")
	case errors.Is(err, syscall.EAGAIN):
		return launchFault(path, fmt.Errorf("no further process is allowed"), "ulimit -u")
	case errors.Is(err, syscall.EMFILE):
		return launchFault(path, fmt.Errorf("too many open files"), "ulimit -n")
	}
	return launchFault(path, err, "")
}

// interpreter returns the program that runs the file: the one in the #! line of a script, or the
// dynamic loader of an ELF program.
func interpreter(file string) string {
	if f, err := elf.Open(file); err == nil {
		defer f.Close()
		if s := f.Section(".interp"); s != nil && s.Size < 4096 {
			if b, err := s.Data(); err == nil {
				return strings.TrimRight(string(b), "\x00")
			}
		}
		return "(unknown)"
	}
	f, err := os.Open(file)
	if err != nil {
		return "(unknown)"
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	text, isScript := strings.CutPrefix(strings.TrimSpace(string(line)), "#!")
	if fields := strings.Fields(text); isScript && len(fields) > 0 {
		return fields[0]
	}
	return "(unknown)"
}

// foreign says why this system cannot run a file.
func foreign(file string) string {
	f, err := elf.Open(file)
	if err != nil {
		return "neither a program of this system nor a script that begins with #!"
	}
	defer f.Close()
	return fmt.Sprintf("made for another kind of machine (%s; this one is %s)",
		strings.TrimPrefix(f.Machine.String(), "EM_"), runtime.GOARCH)
}
