// Tokens of GDB/MI commands.

package debugger

import "testing"

func TestTokensStayShort(t *testing.T) {
	var c calls
	for i := range 3 * maxToken {
		token := c.add(&call{})
		if token < 1 || token > maxToken {
			t.Fatalf("call %d has token %d", i, token)
		}
		if k, skipped := c.take(token); k == nil || len(skipped) > 0 {
			t.Fatalf("the result for token %d is that of %v, %d skipped", token, k, len(skipped))
		}
		c.add(&call{})
		if k, _ := c.take(token); k != nil {
			t.Fatalf("a second result for token %d is taken for one of token %d", token, k.token)
		}
		c.Drop()
	}
}

func TestTokensDifferWhileTheyAreOutstanding(t *testing.T) {
	var c calls
	given := map[int64]bool{}
	for range 3 * maxToken {
		given[c.add(&call{})] = true
	}
	if len(given) != 3*maxToken {
		t.Errorf("%d tokens for %d calls", len(given), 3*maxToken)
	}
}

func TestUnnested(t *testing.T) {
	for text, want := range map[string]string{
		"~\"$1 = 0\\n\"\n":                 "$1 = 0\n",
		"~\"a\\n\"\n~\"b \\\"c\\\"\\n\"\n": "a\nb \"c\"\n",
		"~\"cut":                           "~\"cut",
		"~\"a\\n\"\n&\"log\\n\"\n":         "~\"a\\n\"\n&\"log\\n\"\n",
		"plain\n":                          "plain\n",
	} {
		if got := unnested(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
