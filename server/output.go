package server

import (
	"errors"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sdm/protocol"
	"sdm/protocol/rank"
)

const (
	// readSize is how much is read and handed on at once, in bytes: a quarter of
	// a pipe. In the worst case, a newline each second byte, it makes 8,192
	// groups, which the vertex takes in before it looks at the next command.
	readSize = 16 << 10
	// silence is how long a line without a newline (a prompt) waits for the rest.
	silence = 30 * time.Millisecond
	// blockSize is what a program's library writes at once where nobody reads along, or a
	// multiple: 4 KiB in C, 8 in Fortran. Such a block ends within a line that is not a prompt; the
	// rest comes with the next block, however long that takes to fill.
	blockSize = 4 << 10
	// blockSilence is how long the end of a block waits for it: whoever waits for a program that
	// hangs sees its last words then, or as soon as he stops it.
	blockSilence = 2 * time.Second
)

// output is what one rank writes to its standard output and error, on its way
// up. Whoever reads a stream hands the bytes on before it lets go of mu, so that
// the readers and a drain never reorder them.
type output struct {
	rank rank.Set
	up   *outlet

	mu      sync.Mutex
	streams []*stream
}

// stream is one of the two. Its goroutine is pump.
type stream struct {
	kind protocol.Kind
	file *os.File // does not block
	raw  syscall.RawConn
	cut  cutter

	terminal bool // has both of the rank's outputs
	block    bool // what was read last was blocks, as far as can be seen
}

func newOutput(r rank.ID, up *outlet, stdout, stderr *os.File) (*output, error) {
	o := &output{rank: one(r), up: up}
	for _, s := range []*stream{{kind: protocol.KindStdout, file: stdout}, {kind: protocol.KindStderr, file: stderr}} {
		if s.file == nil { // a terminal has one stream for both
			continue
		}
		raw, err := s.file.SyscallConn()
		if err != nil {
			return nil, err
		}
		s.raw, s.terminal = raw, stderr == nil
		o.streams = append(o.streams, s)
	}
	return o, nil
}

// pump hands a stream on until its end or until its file is closed. It reads no
// further while the way up is congested: then the pipe fills, and the rank waits
// in its write.
func (o *output) pump(s *stream) {
	defer s.file.Close()
	buf := make([]byte, readSize)
	for {
		err := o.read(s, buf)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			o.flush(s)
		case err != nil:
			o.flush(s)
			return
		}
		o.up.await()
	}
}

// errEnd is the end of a stream.
var errEnd = errors.New("end of file")

// read waits for bytes and hands them on.
func (o *output) read(s *stream, buf []byte) error {
	s.file.SetReadDeadline(o.deadline(s))
	var failed error
	err := s.raw.Read(func(fd uintptr) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		n, err := o.take(s, int(fd), buf)
		if err == syscall.EAGAIN {
			return false
		}
		failed = err
		if n == 0 && err == nil {
			failed = errEnd
		}
		return true
	})
	return errors.Join(err, failed)
}

func (o *output) deadline(s *stream) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(s.cut.partial) == 0:
		return time.Time{}
	case s.block:
		return time.Now().Add(blockSilence)
	}
	return time.Now().Add(silence)
}

// take reads once and hands on what it got; mu is held.
func (o *output) take(s *stream, fd int, buf []byte) (int, error) {
	n, err := untilEnd(func() (int, error) { return syscall.Read(fd, buf) })
	if n <= 0 {
		return 0, err
	}
	s.block = n%blockSize == 0
	var groups []protocol.Group
	s.cut.feed(append([]byte(nil), buf[:n]...), func(line []byte) { groups = append(groups, o.group(s, line)) })
	o.up.output(groups...)
	return n, nil
}

// untilEnd reads once. At the end of a terminal, EIO, it makes sure: Linux looks for bytes
// first and then whether the other side is closed, so that what is written in between
// and closed at once comes with the next read (1 of 60,000 programs on a busy machine).
func untilEnd(read func() (int, error)) (n int, err error) {
	for ends := 0; ; {
		n, err = read()
		switch {
		case err == syscall.EINTR:
		case err == syscall.EIO && ends == 0:
			ends++
		default:
			return n, err
		}
	}
}

func (o *output) group(s *stream, line []byte) protocol.Group {
	return protocol.Group{Kind: s.kind, Ranks: o.rank, Body: line[:len(line):len(line)]}
}

func (o *output) flush(s *stream) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked(s)
}

func (o *output) flushLocked(s *stream) {
	s.cut.flush(func(line []byte) { o.up.output(o.group(s, line)) })
}

// drain hands on everything that the rank has written so far, lines without a
// newline included. It does not block, and it does not mind congestion: a stop
// must not wait for room, and a pipe holds little.
func (o *output) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.streams {
		// Control and not Read, for which pump has the file's read lock. After
		// the end of the stream the file is closed, and this does nothing.
		s.raw.Control(func(fd uintptr) { o.takeWaiting(s, int(fd)) })
		o.flushLocked(s)
	}
}

// takeWaiting hands on what is in the pipe now, at most 64 KiB as a rule, and no
// more: a process that the rank has left behind may write all the time.
func (o *output) takeWaiting(s *stream, fd int) {
	left := unread(fd)
	if s.terminal {
		left = max(left, readSize) // it does not count what is on its way from the other side
	}
	if left == 0 { // as a rule: all ranks of a node stop together
		return
	}
	buf := make([]byte, readSize)
	for left > 0 {
		n, err := o.take(s, fd, buf)
		if n == 0 || err != nil {
			return
		}
		left -= n
	}
}

// unread is how many bytes are in a pipe or a terminal now. The call cannot wait, so
// that Go's scheduler need not be told of it: its own thread would wake for the
// stops of a node (a sixth of the server's time for continue).
func unread(fd int) int {
	var n int32
	_, _, err := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	if err != 0 {
		return 0
	}
	return int(n)
}

// settle returns when what has been read is handed on.
func (o *output) settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
}

// close ends the pumps of streams that others still hold open.
func (o *output) close() {
	for _, s := range o.streams {
		s.file.Close()
	}
}
