// Reading of the standard input of the ranks.

package console

import (
	"io"
	"time"
)

// feeder reads Input in its own goroutine, one piece on each request, so that it reads no more than
// the ranks take. newFeeder starts the goroutine, which ends with the input, or in close.
type feeder struct {
	input  io.ReadCloser
	more   chan struct{}
	pieces chan piece
	done   chan struct{}
}

// piece is some bytes of the input, the last one with end.
type piece struct {
	data []byte
	end  bool
}

// feedBytes is how much is read and sent at once: the capacity of a pipe.
const feedBytes = 64 << 10

// newFeeder begins to read; nil if there is no input.
func newFeeder(input io.ReadCloser) *feeder {
	if input == nil {
		return nil
	}
	f := &feeder{input: input, more: make(chan struct{}, 1), pieces: make(chan piece, 1), done: make(chan struct{})}
	go f.loop()
	f.want()
	return f
}

func (f *feeder) loop() {
	defer close(f.done)
	buf := make([]byte, feedBytes)
	for range f.more {
		n, err := f.input.Read(buf)
		p := piece{end: err != nil}
		p.data = append(p.data, buf[:n]...)
		f.pieces <- p // does not block: there is room for the requested one
		if p.end {
			return
		}
	}
}

// want requests the next piece; it is called once for each piece that came.
func (f *feeder) want() {
	select {
	case f.more <- struct{}{}:
	default: // the input has ended
	}
}

// endWait is how long a pending Read may take to end when the input is closed. That of a pipe of
// another user, which cannot be opened without blocking, lasts until the process ends.
const endWait = time.Second

func (f *feeder) close() {
	f.input.Close()
	close(f.more)
	select {
	case <-f.done:
	case <-time.After(endWait):
	}
}
