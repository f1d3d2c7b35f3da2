// The end of what a server has written to stderr.

package local

import (
	"bytes"
	"sync"
)

// tail keeps the end of a server's stderr.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize bounds the text of a tail, in bytes: enough for the last error messages, not for a stack
// dump of every goroutine.
const tailSize = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(b), nil
}

// quoted returns the text for the end of an error: after a colon, or "" if there is none.
func (t *tail) quoted() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.text) == 0 {
		return ""
	}
	return ": " + string(t.text)
}

func (t *tail) endsWith(text string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.HasSuffix(t.text, []byte(text))
}
