package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Script makes a program of a command line, for starters that take the name of a
// program but no arguments for it, or not as many: a shell script in dir, which the
// hosts that run it must have in common. line is the command line, quoted for a
// shell. Its name says whose it is, and those that were left by processes of this
// host which were killed are removed.
func Script(dir, session, line string) (string, error) {
	if strings.ContainsAny(line, "\x00") {
		return "", errors.New("a command line cannot hold a zero byte")
	}
	host, err := os.Hostname()
	if err != nil {
		return "", err
	}
	removeOrphans(dir, host)
	path := filepath.Join(dir, fmt.Sprintf("%s%s.%d@%s", scriptPrefix, clean(session), os.Getpid(), host))
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

const scriptPrefix = "server-"

// removeOrphans removes scripts whose process is gone. Those of other hosts are left
// to these: nobody can tell from here.
func removeOrphans(dir, host string) {
	paths, err := filepath.Glob(filepath.Join(dir, scriptPrefix+"*@*"))
	if err != nil {
		return // a directory that is no pattern: they stay
	}
	for _, path := range paths {
		if pid, ok := ownerOf(filepath.Base(path), host); ok && syscall.Kill(pid, 0) == syscall.ESRCH {
			os.Remove(path)
		}
	}
}

// ownerOf reads the process of this host that has made a script off its name.
func ownerOf(name, host string) (pid int, ok bool) {
	name, at, _ := strings.Cut(name, "@")
	_, number, found := strings.Cut(strings.TrimPrefix(name, scriptPrefix), ".")
	pid, err := strconv.Atoi(number)
	return pid, found && err == nil && pid > 0 && at == host
}
