package rpc

import (
	"strings"
	"sync"
)

// syncBuffer is a log that a test can wait on.
type syncBuffer struct {
	mu    sync.Mutex
	more  sync.Cond
	bytes strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more.L == nil {
		b.more.L = &b.mu
	}
	b.more.Broadcast()
	return b.bytes.Write(p)
}

// await returns when the text has been written.
func (b *syncBuffer) await(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.more.L == nil {
		b.more.L = &b.mu
	}
	for !strings.Contains(b.bytes.String(), text) {
		b.more.Wait()
	}
}
