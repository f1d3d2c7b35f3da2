package protocol

import (
	"strings"
	"testing"
)

func TestCheckHost(t *testing.T) {
	for _, good := range []string{"node01", "me@node-1.cluster.local", "10.0.0.1", "fe80::1%eth0", "[::1]", "knoten_ü"} {
		if err := CheckHost(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-oProxyCommand=touch /tmp/x", "a b", "a\nb", "a\x1b[31m", "$(id)", "a;id", "a" + string([]byte{255}), strings.Repeat("a", 400)} {
		err := CheckHost(bad)
		if err == nil {
			t.Errorf("%q is taken", bad)
			continue
		}
		if text := err.Error(); strings.ContainsFunc(text, func(r rune) bool { return r < 32 || r == 0xfffd }) || len(text) > 200 {
			t.Errorf("%q is refused with %q", bad, text)
		}
	}
}
