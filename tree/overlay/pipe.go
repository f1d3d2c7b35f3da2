// In-memory links.

package overlay

import (
	"io"
	"net"
	"sync"
	"syscall"
)

// pipeBuffer is the capacity of one direction of an in-memory link, in bytes, like
// the buffer of a socket.
const pipeBuffer = 256 << 10

// pipeRead is the size of one read of an in-memory link, and the largest buffer
// that an idle one keeps, in bytes. It is small because a read needs no system call
// there, and a process may have tens of thousands of links.
const pipeRead = 1 << 10

func pipeEnd(in, out *flow) *stream {
	s := newStream(&duplex{in: in, out: out}, "memory", pipeRead)
	s.keep = pipeRead
	return s
}

// duplex is one end of an in-memory link.
type duplex struct{ in, out *flow }

func (d *duplex) Read(p []byte) (int, error)     { return d.in.read(p) }
func (d *duplex) Write(p []byte) (int, error)    { return d.out.write(p, true) }
func (d *duplex) tryWrite(p []byte) (int, error) { return d.out.write(p, false) }

// Close ends both directions. The other end can still read what was written, as
// with a socket.
func (d *duplex) Close() error {
	d.out.end(io.EOF, syscall.EPIPE)
	d.in.end(net.ErrClosed, syscall.EPIPE)
	return nil
}

// flow is one direction of an in-memory link: a bounded queue of bytes. Writers
// block while it is full.
type flow struct {
	mu       sync.Mutex
	changed  sync.Cond
	buf      []byte // buf[off:] is unread
	off      int
	readEnd  error  // error of read; io.EOF only after all bytes
	writeEnd error  // error of write
	readable func() // called when there is something to read, unless nil
}

func newFlow() *flow {
	f := &flow{}
	f.changed.L = &f.mu
	return f
}

// end closes the flow. An earlier reader error is kept, unless the new one is
// net.ErrClosed.
func (f *flow) end(reader, writer error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readEnd == nil || reader == net.ErrClosed {
		f.readEnd = reader
	}
	f.writeEnd = writer
	f.changed.Broadcast()
	if f.readable != nil {
		f.readable()
	}
}

// notify registers a function that is called whenever there is something to read.
// The flow is locked then: the function must not block.
func (f *flow) notify(readable func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readable = readable
}

// pending reports whether read would return at once, possibly with the end.
func (f *flow) pending() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.off < len(f.buf) || f.readEnd != nil
}

func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.off == len(f.buf) && f.readEnd == nil {
		f.changed.Wait()
	}
	if f.readEnd == net.ErrClosed || f.off == len(f.buf) {
		return 0, f.readEnd
	}
	n := copy(p, f.buf[f.off:])
	f.off += n
	if f.off == len(f.buf) {
		f.buf, f.off = recycle(f.buf, pipeRead), 0
	}
	f.changed.Broadcast()
	return n, nil
}

// write writes all of p; if it may not wait, as much as fits.
func (f *flow) write(p []byte, wait bool) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := 0
	for done < len(p) {
		if f.writeEnd != nil {
			return done, f.writeEnd
		}
		room := pipeBuffer - (len(f.buf) - f.off)
		if room > 0 {
			done += f.append(p[done:min(len(p), done+room)])
			continue
		}
		if !wait {
			break
		}
		f.changed.Wait()
	}
	return done, nil
}

// append stores p after the unread bytes. It moves them to the front if that keeps
// the buffer within its limit.
func (f *flow) append(p []byte) int {
	if f.off > 0 && len(f.buf)+len(p) > pipeBuffer {
		f.buf = f.buf[:copy(f.buf, f.buf[f.off:])]
		f.off = 0
	}
	f.buf = append(f.buf, p...)
	f.changed.Broadcast()
	if f.readable != nil {
		f.readable()
	}
	return len(p)
}
