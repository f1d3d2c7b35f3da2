// Writing to the standard input of a rank.

package server

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// maxUnread bounds the data queued for a rank that does not read its standard input, in bytes.
const maxUnread = 1 << 20

// Reasons why data cannot be sent to a rank.
var (
	errStdinFull   = errors.New("the rank has not read what it was sent before")
	errStdinClosed = errors.New("the standard input of the rank is closed")
)

// feeder writes to the standard input of one rank. A write may block without limit while the rank
// is stopped. The goroutine write runs while there is data to write; close ends it.
type feeder struct {
	file io.WriteCloser

	mu      sync.Mutex
	queue   []chunk
	waiting int // bytes in queue
	busy    bool
	closed  bool
	writing sync.WaitGroup
}

// chunk is the data of one send command.
type chunk struct {
	data []byte
	eof  bool
	done func(error)
}

// send queues data, and end of file after it if eof. done is called once: when the rank's pipe has
// taken the data, or with the error.
func (f *feeder) send(data []byte, eof bool, done func(error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed:
		done(errStdinClosed)
		return
	case f.waiting > 0 && f.waiting+len(data) > maxUnread:
		done(errStdinFull)
		return
	}
	f.queue = append(f.queue, chunk{data, eof, done})
	f.waiting += len(data)
	f.closed = eof
	if !f.busy {
		f.busy = true
		f.writing.Go(f.write)
	}
}

func (f *feeder) write() {
	for {
		f.mu.Lock()
		if len(f.queue) == 0 {
			f.busy = false
			f.mu.Unlock()
			return
		}
		next := f.queue[0]
		f.queue = f.queue[1:]
		f.mu.Unlock()
		_, err := f.file.Write(next.data)
		if next.eof {
			f.file.Close()
		}
		f.mu.Lock()
		f.waiting -= len(next.data)
		f.mu.Unlock()
		if err != nil && (errors.Is(err, syscall.EPIPE) || f.isClosed()) {
			err = errStdinClosed
		}
		next.done(err)
	}
}

func (f *feeder) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// close drops the queue, and returns when write has ended.
func (f *feeder) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.file.Close()
	f.writing.Wait()
}
