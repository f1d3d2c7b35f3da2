// The typed input, and text above the prompt.

package console

import (
	"io"
	"sync"

	"github.com/chzyer/readline"
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

	buf     [256]byte
	decoder keyDecoder
	rest    []byte // what it has returned of buf, and Read has not; this and the above are used by Read only

	mu      sync.Mutex
	changed sync.Cond // on mu
	line    bool      // a line is being read
	waiting bool      // the library waits for a key
	closed  bool
	ended   bool // Read has returned an error
	delete  bool // Read has returned the Delete key
	empty   bool // nothing has been typed on the line
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
	for len(k.rest) == 0 {
		n, err := k.in.Read(k.buf[:])
		if n <= 0 {
			k.set(func() { k.ended = true })
			return 0, err
		}
		for _, key := range k.buf[:n] { // an error is returned again by the next Read
			k.rest = k.decoder.step(k.rest, key)
		}
	}
	key := k.rest[0]
	k.rest = k.rest[1:]
	k.set(func() { k.delete = key == deleteKey })
	if key == deleteKey {
		key = readline.CharDelete
	}
	b[0] = key
	return 1, nil
}

// OnChange notes whether the line is empty; see readline.Listener.
func (k *keys) OnChange(line []rune, _ int, _ rune) ([]rune, int, bool) {
	k.set(func() { k.empty = len(line) == 0 })
	return nil, 0, false
}

// isUseless reports whether the library may not see the last key: Delete on an empty line, which it takes for Ctrl-D.
func (k *keys) isUseless(r rune) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return r == readline.CharDelete && k.delete && k.empty
}

// isOver reports whether no key will come.
func (k *keys) isOver() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended || k.closed
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
