// Scripts that stand for a command line, and the removal of old ones.

package stage

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Script makes a program of a command line, for starters that take the name of a program but no
// arguments for it, or too few: a shell script in dir, which must be shared by the hosts that run
// it. line is the command line, quoted for a shell. The name of the script contains host and
// process id. Scripts that killed processes of this host have left are removed.
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

// removeOrphans removes scripts whose process has ended. Those of other hosts stay: whether their
// processes run is not known here.
func removeOrphans(dir, host string) {
	paths, err := filepath.Glob(filepath.Join(dir, scriptPrefix+"*@*"))
	if err != nil {
		return // dir is not a valid pattern: they stay
	}
	for _, path := range paths {
		if pid, ok := ownerOf(filepath.Base(path), host); ok && syscall.Kill(pid, 0) == syscall.ESRCH {
			os.Remove(path)
		}
	}
}

// ownerOf reads the process id from the name of a script of this host.
func ownerOf(name, host string) (pid int, ok bool) {
	name, at, _ := strings.Cut(name, "@")
	_, number, found := strings.Cut(strings.TrimPrefix(name, scriptPrefix), ".")
	pid, err := strconv.Atoi(number)
	return pid, found && err == nil && pid > 0 && at == host
}

// clean returns a text that stands for a name of any characters in a file name.
func clean(name string) string {
	if name == "" {
		return "session"
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}
