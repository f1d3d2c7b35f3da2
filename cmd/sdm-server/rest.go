// The output of ranks in slots after the end of the session.

package main

import (
	"os"

	"golang.org/x/sys/unix"

	"sdm/protocol"
)

// lateOutput returns the function that writes the output of ranks in slots after the end of the
// session. It writes to our own standard streams, which are those that the starter meant for the
// rank. They are duplicated, because a write to a broken pipe at descriptor 1 or 2 would end this Go
// program, and the ranks with it.
func lateOutput() func(protocol.Kind, []byte) {
	stdout, stderr := duplicate(unix.Stdout), duplicate(unix.Stderr)
	return func(stream protocol.Kind, text []byte) {
		to := stdout
		if stream == protocol.KindStderr {
			to = stderr
		}
		if to != nil {
			to.Write(text) // on an error there is no reader any more
		}
	}
}

// duplicate returns another descriptor for the same file, or nil.
func duplicate(fd int) *os.File {
	d, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(d), "standard stream")
}
