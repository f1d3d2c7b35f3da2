// A link over any stream of bytes.

package overlay

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"sdm/protocol"
	"sdm/protocol/wire"
)

// readBuffer is the size of one read, in bytes: many packets of usual size (50 to
// 500 bytes), and small compared with the memory of a root with 1,000 children.
const readBuffer = 16 << 10

// maxBatch is the number of bytes that are collected for one write.
const maxBatch = 256 << 10

// lengthSize is the size of the length prefix of a packet; see package wire.
const lengthSize = 4

// writeGrace is how long a link that cannot be written to is still read, to receive
// what the neighbour has sent before it closed.
const writeGrace = time.Second

// stream is a Link over any stream of bytes. Its goroutines are its outbox's; Close waits for them.
type stream struct {
	peer  string
	rw    io.Closer
	in    *bufio.Reader
	limit int // maximum size of a received packet, in bytes
	out   *outbox
	tls   *tls.Conn     // encrypts into out; nil: packets go to out as they are
	bytes atomic.Uint64 // bytes received

	mu    sync.Mutex // batch and the order of writes
	batch []byte
	keep  int // the largest batch to keep, in bytes

	unwatch func() // ends the monitoring of the other host; nil: there is none

	once   sync.Once
	closed error
	closer *time.Timer // closes a link that cannot be written to; guarded by out.mu
}

// NewStream returns a link over rw: a Unix socket, a TLS connection. Closing rw
// must end a blocked Read and Write of another goroutine. An *os.File made with
// os.NewFile may not do so; FromFiles makes one that does.
func NewStream(rw io.ReadWriteCloser, peer string) Link { return newStream(rw, peer, readBuffer) }

// newStream is NewStream with a read buffer of this size.
func newStream(rw io.ReadWriteCloser, peer string, buffer int) *stream {
	s := &stream{peer: peer, rw: rw, limit: wire.MaxPacket, keep: keepBuffer}
	s.in = bufio.NewReaderSize(&counter{reading(rw), &s.bytes}, buffer)
	s.out = newOutbox(rw, s.failed)
	return s
}

// counter counts the bytes received.
type counter struct {
	in    io.Reader
	bytes *atomic.Uint64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.bytes.Add(uint64(n))
	return n, err
}

// received returns the number of bytes received so far.
func (s *stream) received() uint64 { return s.bytes.Load() }

// failed is called when nothing can be written any more.
func (s *stream) failed(err error) {
	grace := writeGrace
	if err == errStalled || err == errSilentHost {
		grace = 0
	}
	s.closer = time.AfterFunc(grace, func() { s.rw.Close() })
}

func (s *stream) Peer() string { return s.peer }

// Send returns when the transport has accepted the packets.
func (s *stream) Send(msgs ...wire.Message) error {
	s.mu.Lock()
	before := len(s.batch)
	for i := range msgs {
		if err := s.add(&msgs[i]); err != nil {
			s.batch = s.batch[:before]
			s.mu.Unlock()
			return err
		}
	}
	err := s.write()
	s.mu.Unlock()
	if err == nil {
		err = s.out.settle(0)
	}
	if err != nil {
		return &linkError{"send to", s.peer, err}
	}
	return nil
}

// add appends a packet to the batch. The caller holds mu.
func (s *stream) add(m *wire.Message) error {
	before := len(s.batch)
	s.batch = wire.Append(s.batch, m)
	if n := len(s.batch) - before - lengthSize; n > wire.MaxPacket {
		s.batch = s.batch[:before]
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, n, wire.MaxPacket)
	}
	return nil
}

// write hands the batch to the transport or its queue. The caller holds mu.
func (s *stream) write() error {
	if len(s.batch) == 0 {
		return nil
	}
	err := s.writeBatch()
	s.batch = recycle(s.batch, s.keep)
	return err
}

func (s *stream) writeBatch() error {
	if s.tls == nil {
		_, err := s.out.Write(s.batch)
		return err
	}
	s.out.cork()
	defer s.out.uncork()
	_, err := s.tls.Write(s.batch)
	return err
}

func (s *stream) put(m *wire.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.add(m)
	if len(s.batch) > maxBatch {
		s.write()
	}
	return err
}

func (s *stream) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write()
}

func (s *stream) queued() int { return s.out.queued() }

func (s *stream) onRoom(room func(), stall time.Duration) { s.out.onRoom(room, stall) }

func (s *stream) settle(d time.Duration) { s.out.settle(d) }

// await returns when Receive has something to read, possibly only an error.
func (s *stream) await() { s.in.Peek(1) }

// Receive reads one packet. After an error the link is not usable any more.
func (s *stream) Receive() (wire.Message, error) {
	b, err := wire.ReadPacket(s.in, s.limit)
	if err != nil {
		return wire.Message{}, s.receiveError(err)
	}
	m, err := wire.Decode(b)
	if err != nil {
		return wire.Message{}, s.receiveError(err)
	}
	return m, nil
}

// receiveGreeting reads a Hello or Welcome of any version of the protocol. The
// format of these two never changes, so that versions can be compared.
func (s *stream) receiveGreeting() (wire.Message, error) {
	s.limit = maxGreeting
	b, err := wire.ReadPacket(s.in, s.limit)
	s.limit = wire.MaxPacket
	if err != nil {
		return wire.Message{}, s.receiveError(err)
	}
	if len(b) > 0 {
		b[0] = protocol.PacketVersion
	}
	return wire.Decode(b)
}

// receiveError replaces "closed" with the reason for which this side has closed, if there is one.
func (s *stream) receiveError(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		if own := s.out.failure(); own != nil {
			err = own
		}
	}
	return &linkError{"receive from", s.peer, err}
}

// ready reports whether Receive would return a packet without waiting.
func (s *stream) ready() bool {
	have := s.in.Buffered()
	if have < lengthSize {
		return false
	}
	head, _ := s.in.Peek(lengthSize)
	return uint64(have-lengthSize) >= uint64(binary.BigEndian.Uint32(head))
}

// Close discards bytes that have not been written.
func (s *stream) Close() error {
	s.once.Do(func() {
		if s.unwatch != nil {
			s.unwatch()
		}
		if s.tls != nil {
			s.tls.CloseWrite() // so that the other side sees an orderly end
		}
		s.out.end(net.ErrClosed)
		s.closed = s.rw.Close()
		s.out.finished.Wait()
		s.out.mu.Lock()
		defer s.out.mu.Unlock()
		if s.closer != nil {
			s.closer.Stop()
			s.closed = nil // Receive has returned the error
		}
	})
	return s.closed
}
