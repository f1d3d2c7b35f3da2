package digest_test

import (
	"math/rand/v2"
	"testing"

	"sdm/protocol/digest"
)

// Test vectors of the specification of xxhash: another implementation must give the
// same.
func TestKnown(t *testing.T) {
	for text, want := range map[string]uint64{"": 0xef46db3751d8e999, "a": 0xd24ec4f1a98c6e5b, "abc": 0x44bc2cf5ad770999} {
		if got := digest.OfText(text); got != want || digest.Of([]byte(text)) != want {
			t.Errorf("%q: %#x, want %#x", text, got, want)
		}
	}
	if got := digest.Text(0xabc); got != "#abc" {
		t.Error(got)
	}
}

// The division into pieces does not matter.
func TestRunning(t *testing.T) {
	b := make([]byte, 10_000)
	for i := range b {
		b[i] = byte(i * 7)
	}
	r := digest.New()
	for rest := b; len(rest) > 0; {
		n := min(len(rest), 1+rand.IntN(700))
		r.Add(rest[:n])
		rest = rest[n:]
	}
	if got, want := r.Sum(), digest.Of(b); got != want {
		t.Errorf("%#x, want %#x", got, want)
	}
}
