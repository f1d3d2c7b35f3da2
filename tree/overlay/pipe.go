// Links in memory.

package overlay

import (
	"io"
	"net"
	"sync"
	"syscall"
)

// pipeBuffer bounds one direction of a memory link, in bytes, as a socket's
// buffer does.
const pipeBuffer = 256 << 10

// pipeRead is what one read of a memory link may bring, and the largest buffer that
// an idle one keeps, in bytes: a read costs no system call there, and a process may
// hold tens of thousands of links.
const pipeRead = 1 << 10

// Pipe gives the two ends of a link in memory. It carries bytes, as every other
// link does: neighbours share no memory, and tests over it test the packets too.
func Pipe() (a, b Link) {
	there, back := newFlow(), newFlow()
	return pipeEnd(back, there), pipeEnd(there, back)
}

func pipeEnd(in, out *flow) *stream {
	s := newStream(&duplex{in: in, out: out}, "memory", pipeRead)
	s.keep = pipeRead
	return s
}

// duplex is one end of a memory link.
type duplex struct{ in, out *flow }

func (d *duplex) Read(p []byte) (int, error)     { return d.in.read(p) }
func (d *duplex) Write(p []byte) (int, error)    { return d.out.write(p, true) }
func (d *duplex) tryWrite(p []byte) (int, error) { return d.out.write(p, false) }

// Close lets the other end read what was written, as a socket does.
func (d *duplex) Close() error {
	d.out.end(io.EOF, syscall.EPIPE)
	d.in.end(net.ErrClosed, syscall.EPIPE)
	return nil
}

// flow is one direction of a memory link: a bounded queue of bytes. A full one
// makes writers wait.
type flow struct {
	mu       sync.Mutex
	changed  sync.Cond
	buf      []byte // buf[off:] is unread
	off      int
	readEnd  error  // what a reader gets; io.EOF only after all bytes
	writeEnd error  // what a writer gets
	come     func() // called when there is something to read; nil: nothing is
}

func newFlow() *flow {
	f := &flow{}
	f.changed.L = &f.mu
	return f
}

// end keeps an earlier end.
func (f *flow) end(reader, writer error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readEnd == nil || reader == net.ErrClosed {
		f.readEnd = reader
	}
	f.writeEnd = writer
	f.changed.Broadcast()
	if f.come != nil {
		f.come()
	}
}

// notify has a function called whenever there is something to read, with the flow
// locked: it must not wait.
func (f *flow) notify(come func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.come = come
}

// pending tells whether read has something to give, if only the end.
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

// write takes all of p, or, when it may not wait, what there is room for.
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

// append stores p behind the unread bytes, moving them to the front when that
// saves the buffer from growing beyond its bound.
func (f *flow) append(p []byte) int {
	if f.off > 0 && len(f.buf)+len(p) > pipeBuffer {
		f.buf = f.buf[:copy(f.buf, f.buf[f.off:])]
		f.off = 0
	}
	f.buf = append(f.buf, p...)
	f.changed.Broadcast()
	if f.come != nil {
		f.come()
	}
	return len(p)
}
