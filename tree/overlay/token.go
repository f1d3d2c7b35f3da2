// The token by which a listener recognizes peers.

package overlay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// Sizes of a token, in bytes: a nonce, and the part of its HMAC-SHA256 that
// follows.
const (
	nonceSize = 12
	proofSize = 16
)

// maxNonces is the number of nonces that a listener remembers. A token that was
// recorded before as many others arrived may be used once more.
const maxNonces = 8192

// tokens makes the tokens of the dialling side and verifies those made
// with the same key. A token is sent in the clear, as the name of the application
// protocol (ALPN), in the first packet of TLS, so a listener sends unauthenticated
// peers nothing and computes no signature for them. Each token is valid for one
// connection to a listener: it proves only that its maker knows the secret, and a
// recorded one must not be usable again.
type tokens struct {
	key []byte

	mu   sync.Mutex
	used map[string]bool
	ring []string // the nonces of used, oldest at next once it is full
	next int
}

// fresh returns a new token.
func (t *tokens) fresh() string {
	nonce := make([]byte, nonceSize)
	rand.Read(nonce) // never fails
	return t.of(nonce)
}

func (t *tokens) of(nonce []byte) string {
	mac := hmac.New(sha256.New, t.key)
	mac.Write(nonce)
	return hex.EncodeToString(nonce) + hex.EncodeToString(mac.Sum(nil)[:proofSize])
}

// accept reports whether a token was made with the key and is used for the first
// time.
func (t *tokens) accept(token string) bool {
	if len(token) != 2*(nonceSize+proofSize) {
		return false
	}
	nonce, err := hex.DecodeString(token[:2*nonceSize])
	if err != nil || !hmac.Equal([]byte(token), []byte(t.of(nonce))) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used[string(nonce)] {
		return false
	}
	t.remember(string(nonce))
	return true
}

func (t *tokens) remember(nonce string) {
	if t.used == nil {
		t.used = make(map[string]bool)
	}
	t.used[nonce] = true
	if len(t.ring) < maxNonces {
		t.ring = append(t.ring, nonce)
		return
	}
	delete(t.used, t.ring[t.next])
	t.ring[t.next] = nonce
	t.next = (t.next + 1) % maxNonces
}
