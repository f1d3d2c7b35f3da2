// The typed input, and text above the prompt.

package console

import (
	"io"
	"sync"
)

// keys is the typed input. It tracks the state of the readline library: text may be written above
// the prompt only while no line is read, or while the library waits for a key.
//
// The library draws the prompt before it records that it reads, and records that it does not read
// some time after it has returned the line. Text written in between would appear after the prompt,
// which is not drawn again, or leave a prompt where none belongs.
type keys struct {
	in io.ReadCloser

	once    sync.Once
	reading chan struct{} // closed when the first Read begins

	buf  [256]byte
	rest []byte // of buf, not returned yet; used by Read only

	mu      sync.Mutex
	changed sync.Cond // on mu
	line    bool      // a line is being read
	waiting bool      // the library waits for a key
	closed  bool
}

func newKeys(in io.ReadCloser) *keys {
	k := &keys{in: in, reading: make(chan struct{})}
	k.changed.L = &k.mu
	return k
}

// Read returns one byte each time, so that the library calls it whenever it has processed its
// input.
func (k *keys) Read(b []byte) (int, error) {
	k.once.Do(func() { close(k.reading) })
	if len(b) == 0 {
		return 0, nil
	}
	k.set(func() { k.waiting = true })
	defer k.set(func() { k.waiting = false })
	if len(k.rest) == 0 {
		n, err := k.in.Read(k.buf[:])
		if n <= 0 {
			return 0, err
		}
		k.rest = k.buf[:n] // an error is returned again by the next Read
	}
	b[0], k.rest = k.rest[0], k.rest[1:]
	return 1, nil
}

// Close ends a pending Read, and waits in above.
func (k *keys) Close() error {
	k.set(func() { k.closed = true })
	return k.in.Close()
}

func (k *keys) set(f func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f()
	k.changed.Broadcast()
}

// above calls write when the screen is consistent, and tells it whether the prompt is shown. That
// does not change while write runs.
func (k *keys) above(write func(prompted bool)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for k.line && !k.waiting && !k.closed {
		k.changed.Wait()
	}
	write(k.line)
}

// promptWriter is the writer of Terminal.Above.
type promptWriter struct {
	t   *Terminal
	out io.Writer
}

func (a promptWriter) Write(b []byte) (n int, err error) {
	a.t.in.above(func(prompted bool) {
		if prompted {
			n, err = a.t.rl.Stdout().Write(b) // removes the prompt and draws it again below
		} else {
			n, err = a.out.Write(b)
		}
	})
	return n, err
}
