// Files that are kept open.

package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Kept is what readLine and Letter tell of one thread, from files that stay open from one reading to the next: to look up
// their names costs the kernel several times what it costs to tell their contents. Once the thread has ended, nothing
// can be read any more until Close, even if its ID is used again. One goroutine uses it at a time.
type Kept struct {
	stat, statm kept
}

// Keep returns the files of the thread through which a process is read.
func Keep(tid int) Kept {
	return Kept{kept{path: fmt.Sprintf(statOf, tid, tid)}, kept{path: fmt.Sprintf("/proc/%d/statm", tid)}}
}

// Letter is Letter of the thread.
func (k *Kept) Letter() byte { return letterOf(k.stat.line()) }

// Sizes is readLine of its file statm.
func (k *Kept) Sizes() string { return k.statm.line() }

// Close closes the files until they are read again.
func (k *Kept) Close() {
	k.stat.close()
	k.statm.close()
}

// kept is one file.
type kept struct {
	path string
	open bool
	fd   int
}

// line returns the contents of the file; "": they cannot be read.
func (k *kept) line() string {
	if !k.open {
		var err error
		if k.fd, err = unix.Open(k.path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return ""
		}
		k.open = true
	}
	return line(k.fd)
}

func (k *kept) close() {
	if k.open {
		_ = unix.Close(k.fd)
		k.open = false
	}
}

// line returns the contents of an open file.
func line(fd int) string {
	var b [maxLine]byte
	for {
		if n, err := unix.Pread(fd, b[:], 0); err != unix.EINTR {
			return string(b[:max(n, 0)])
		}
	}
}
