package main

import (
	"os"

	"golang.org/x/sys/unix"

	"sdm/protocol"
)

// rest gives the writer of what ranks in slots write when the session is over: to
// our own standard streams, which the starter has given to the rank. They are
// duplicated, because a broken pipe at descriptor 1 or 2 ends a program in Go, and
// the ranks would end with us.
func rest() func(protocol.Kind, []byte) {
	stdout, stderr := duplicate(unix.Stdout), duplicate(unix.Stderr)
	return func(stream protocol.Kind, text []byte) {
		to := stdout
		if stream == protocol.KindStderr {
			to = stderr
		}
		if to != nil {
			to.Write(text) // what cannot be written has no reader
		}
	}
}

// duplicate is another descriptor for the same file, or nil.
func duplicate(fd int) *os.File {
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(d), "standard stream")
}
