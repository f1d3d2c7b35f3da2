// Who may ask: a token of a link is exchanged, once, for a key.

package web

import (
	"crypto/sha256"
	"errors"
	"time"
)

// tokenTime is how long a link can be opened.
const tokenTime = 5 * time.Minute

// Bounds of what access holds. The oldest go first.
const (
	maxTokens = 8
	maxKeys   = 32
)

// errToken is the error of a token that is wrong, used or expired; it does not tell which.
var errToken = errors.New("the link was used already, is too old, or is not of this sdm web: make a new one where sdm web runs (Enter)")

// digest is what is kept of tokens and keys. How long a comparison takes tells nothing of what they are of.
type digest [sha256.Size]byte

// access holds the tokens that can be redeemed and the keys that were given for them. It is pure: time and random texts
// come from its caller.
type access struct {
	tokens []token
	keys   []digest
}

type token struct {
	digest digest
	until  time.Time
}

// offer adds a token.
func (a *access) offer(now time.Time, text string) {
	a.tokens = append(a.tokens, token{sha256.Sum256([]byte(text)), now.Add(tokenTime)})
	a.tokens = a.tokens[max(0, len(a.tokens)-maxTokens):]
}

// redeem takes a token, which is used up, and makes key valid.
func (a *access) redeem(now time.Time, text, key string) error {
	sum := sha256.Sum256([]byte(text))
	for i, t := range a.tokens {
		if t.digest != sum {
			continue
		}
		a.tokens = append(a.tokens[:i:i], a.tokens[i+1:]...)
		if now.After(t.until) {
			return errToken
		}
		a.keys = append(a.keys, sha256.Sum256([]byte(key)))
		a.keys = a.keys[max(0, len(a.keys)-maxKeys):]
		return nil
	}
	return errToken
}

// knows reports whether a key was given.
func (a *access) knows(key string) bool {
	sum, known := digest(sha256.Sum256([]byte(key))), false
	for _, k := range a.keys {
		known = known || k == sum
	}
	return known
}
