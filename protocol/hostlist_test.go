package protocol

import (
	"strings"
	"testing"
)

func TestHostMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		want          bool
	}{
		{"node07", "node07", true},
		{"node07", "node070", false},
		{"node[01-16,20]", "node07", true},
		{"node[01-16,20]", "node20", true},
		{"node[01-16,20]", "node7", false},
		{"node[01-16,20]", "node17", false},
		{"node[1-16]", "node7", true},
		{"node[8-16]", "node10", true},
		{"rack[1-2]n[01-04]", "rack2n03", true},
		{"rack[1-2]n[01-04]", "rack3n03", false},
		{"n[1-2]0", "n20", true},
		{"node[01-16]-ib", "node02-ib", true},
		{"node[01-16", "node02", false},
		{"node[]", "node", false},
		{"node[x]", "node1", false},
		{"", "", false},
		{"node[1-2]", "node1.site.org", true},
		{"node1.site.org", "node1.site.org", true},
		{"node1.site.org", "node1", false},
	} {
		if got := HostMatches(c.pattern, c.host); got != c.want {
			t.Errorf("%q matches %q: %v", c.pattern, c.host, got)
		}
	}
}

func FuzzHostMatches(f *testing.F) {
	f.Add("node[01-16,20]", "node07")
	f.Add("rack[1-2]n[01-04]", "rack2n03")
	f.Fuzz(func(t *testing.T, pattern, host string) {
		short, _, _ := strings.Cut(host, ".")
		if HostMatches(pattern, host) && host != "" && !strings.Contains(pattern, "[") && pattern != host && pattern != short {
			t.Errorf("%q matches %q", pattern, host)
		}
	})
}
