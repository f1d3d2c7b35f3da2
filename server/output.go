// Reading of the output of a rank.

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
	// readSize is how much is read and passed on at once, in bytes: a quarter of a pipe. In the
	// worst case, a newline in every second byte, it makes 8,192 groups, which the vertex
	// processes before the next command.
	readSize = 16 << 10
	// partialWait is how long a partial line (a prompt) waits for its rest before it is sent.
	partialWait = 30 * time.Millisecond
	// blockSize divides the size of the blocks that the runtime library of a program writes when
	// its output is not a terminal: 4 KiB in C, 8 KiB in Fortran. Such a block may end within a
	// line that is not a prompt. The rest of the line comes with the next block, which may take
	// long to fill.
	blockSize = 4 << 10
	// blockWait is partialWait for a partial line at the end of a block. The user of a program that
	// hangs sees its last output after that time, or as soon as the program is stopped.
	blockWait = 2 * time.Second
)

// output carries what one rank writes to its standard output and error up the tree. A reader of a
// stream passes the bytes on before it unlocks mu, so that forward and drain never reorder them.
type output struct {
	rank rank.Set
	up   *eventSink

	mu      sync.Mutex
	streams []*stream
}

// stream is one of the two streams. Its goroutine is forward.
type stream struct {
	kind protocol.Kind
	file *os.File // non-blocking
	raw  syscall.RawConn
	cut  cutter

	terminal bool // a terminal, which carries both streams of the rank
	block    bool // the last read was a multiple of blockSize
}

func newOutput(r rank.ID, up *eventSink, stdout, stderr *os.File) (*output, error) {
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

// forward passes a stream on until its end or until its file is closed. It does not read while the
// link to the parent is congested: then the pipe fills, and the rank blocks in its write.
func (o *output) forward(s *stream) {
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

// errEnd means the end of a stream.
var errEnd = errors.New("end of file")

// read waits for data and passes it on.
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
		return time.Now().Add(blockWait)
	}
	return time.Now().Add(partialWait)
}

// take reads once and passes on the data; mu is held.
func (o *output) take(s *stream, fd int, buf []byte) (int, error) {
	n, err := readPastEIO(func() (int, error) { return syscall.Read(fd, buf) })
	if n <= 0 {
		return 0, err
	}
	s.block = n%blockSize == 0
	var groups []protocol.Group
	s.cut.feed(append([]byte(nil), buf[:n]...), func(line []byte) { groups = append(groups, o.group(s, line)) })
	o.up.output(groups...)
	return n, nil
}

// readPastEIO reads once. At EIO, which is the end of a terminal, it reads a second time: Linux looks
// for data first and then whether the other side is closed. Data that is written between the two
// checks, and followed at once by a close, comes with the next read (1 of 60,000 programs on a
// busy machine).
func readPastEIO(read func() (int, error)) (n int, err error) {
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

// drain passes on everything that the rank has written so far, partial lines included. It does not
// block and ignores congestion: a stop must not wait for room, and a pipe holds little.
func (o *output) drain() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.streams {
		// Control is used instead of Read because forward holds the file's read lock. After the end
		// of the stream the file is closed, and Control does nothing.
		s.raw.Control(func(fd uintptr) { o.takeWaiting(s, int(fd)) })
		o.flushLocked(s)
	}
}

// takeWaiting passes on the data that is in the pipe now, at most 64 KiB as a rule, and no more: a
// child process of the rank may write all the time.
func (o *output) takeWaiting(s *stream, fd int) {
	left := unread(fd)
	if s.terminal {
		left = max(left, readSize) // TIOCINQ omits data that is on its way from the other side
	}
	if left == 0 { // the usual case: all ranks of a node stop together
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

// unread returns how many bytes are in a pipe or a terminal now. The call cannot block, so it is
// made without telling Go's scheduler: otherwise the scheduler's monitor thread wakes for the
// stops of a node (a sixth of the server's time for continue).
func unread(fd int) int {
	var n int32
	_, _, err := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	if err != 0 {
		return 0
	}
	return int(n)
}

// awaitRead returns when the data that has been read is passed on: mu is held until then.
func (o *output) awaitRead() {
	o.mu.Lock()
	defer o.mu.Unlock()
}

// close ends the goroutines that read streams which other processes still hold open.
func (o *output) close() {
	for _, s := range o.streams {
		s.file.Close()
	}
}
