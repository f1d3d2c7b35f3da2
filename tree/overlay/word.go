// The word by which a listener tells a peer from a stranger.

package overlay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Sizes of a word, in bytes: a nonce, and how much of its HMAC-SHA256 follows.
const (
	nonceSize = 12
	proofSize = 16
)

// maxNonces is how many nonces a listener remembers; a word that was recorded before as
// many others came may be used once more.
const maxNonces = 8192

// words makes the words of those who dial, and knows those that were made with the same
// key. A word stands in the clear, as the name of the application protocol, in the first
// packet of TLS, so a listener answers strangers nothing and spends no signature on them.
// Each is good for one connection at a listener: it proves no more than that its maker
// knows the secret, and whoever records one must not get in twice with it.
//
// Methods may be called by several goroutines.
type words struct {
	key []byte

	mu   sync.Mutex
	used map[string]bool
	ring []string // the nonces of used, oldest at next once it is full
	next int
}

// fresh makes a word.
func (w *words) fresh() string {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce) // never fails
	return w.of(nonce)
}

func (w *words) of(nonce []byte) string {
	mac := hmac.New(sha256.New, w.key)
	mac.Write(nonce)
	return hex.EncodeToString(nonce) + hex.EncodeToString(mac.Sum(nil)[:proofSize])
}

// accept tells whether a word was made with the key, and comes for the first time.
func (w *words) accept(word string) bool {
	if len(word) != 2*(nonceSize+proofSize) {
		return false
	}
	nonce, err := hex.DecodeString(word[:2*nonceSize])
	if err != nil || !hmac.Equal([]byte(word), []byte(w.of(nonce))) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.used[string(nonce)] {
		return false
	}
	w.remember(string(nonce))
	return true
}

func (w *words) remember(nonce string) {
	if w.used == nil {
		w.used = make(map[string]bool)
	}
	w.used[nonce] = true
	if len(w.ring) < maxNonces {
		w.ring = append(w.ring, nonce)
		return
	}
	delete(w.used, w.ring[w.next])
	w.ring[w.next] = nonce
	w.next = (w.next + 1) % maxNonces
}
